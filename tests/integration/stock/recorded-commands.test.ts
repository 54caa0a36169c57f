import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { recordStrategy } from "../../../bin/record/record-strategy";
import { postgresPool } from "../../../lib/services/postgres";
import { type Recording, recordedCommands } from "../../../lib/stock/recorded-commands";
import { requireEnv } from "../../support/lab-env";
import { makeProduct } from "../../support/rows";

requireEnv("DATABASE_URL", "REDIS_URL", "REDLOCK_URLS", "MEMCACHED_URL", "ZOOKEEPER_HOSTS", "ETCD_URL");

/** One of each way to talk to a server: none, statements, a transaction, scripts, five servers, versions, watches, leases. */
const STRATEGIES = [
  "none",
  "sql-guarded",
  "sql-row-lock",
  "redis-set-px",
  "redis-lock",
  "redlock",
  "memcached-cas",
  "zk-mutex",
  "etcd-lock",
];

/** What a buyer sent to which server; repeated attempts and the timing between buyers differ from recording to recording. */
function shapeOf({ steps }: Recording, buyer: "A" | "B"): string[] {
  const sent = steps.flatMap((step) => (step.kind === "command" && step.buyer === buyer ? [step] : []));
  return [...new Set(sent.map(({ server, name, script }) => `${server} ${name} ${script ?? ""}`.trim()))].sort();
}

describe("the committed recording of the strategies' commands", () => {
  after(() => postgresPool().end());

  for (const id of STRATEGIES) {
    it(`is what ${id} sends now`, async () => {
      const committed = recordedCommands.strategies[id];
      assert.ok(committed);
      const recorded = await recordStrategy(id, { kind: "product", id: await makeProduct(100) });
      for (const buyer of ["A", "B"] as const) {
        assert.deepEqual(
          shapeOf(recorded, buyer),
          shapeOf(committed, buyer),
          `${id}, buyer ${buyer}: the strategy sends other commands than recorded. Record it again: npm run lab -- record-commands`,
        );
      }
      assert.equal(
        recorded.stock.before - recorded.stock.after,
        committed.stock.before - committed.stock.after,
        "expected the stock to fall as recorded",
      );
    });
  }
});
