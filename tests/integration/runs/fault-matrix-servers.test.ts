import assert from "node:assert/strict";
import { describe } from "node:test";
import { readSamples } from "../../../lib/runs/queries";
import { verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type CellRun, testCells } from "../../support/matrix-lab";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "matrix-servers-test" });

async function verifyLostLock({ document }: CellRun): Promise<void> {
  assert.match(document.faults[0]?.proof ?? "", /^flush_all deleted the lock held by [0-9a-f]+;/);
  assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
  const live = (await readSamples(document.id)).flatMap(({ faults = [] }) => faults);
  assert.ok(
    live.some(({ node, isActive }) => isActive && node === null),
    "expected the flushes in a sample",
  );
}

function verifyLostCounter({ result, document }: CellRun): void {
  assert.match(document.faults[0]?.proof ?? "", /^flush_all deleted the stock counter at \d+ units;/);
  assert.ok(result.unsold > 0, verdictText(document));
  assert.match(verdictText(document), /has vanished/);
}

describe("the fault matrix, with faults of servers and of the network,", () => {
  testCells([
    { strategy: "redis-set-px", fault: "redis-restart" },
    { strategy: "memcached-add", fault: "memcached-flush", verify: verifyLostLock },
    { strategy: "memcached-cas", fault: "memcached-flush", verify: verifyLostCounter },
    { strategy: "redis-setnx", fault: "reset_peer" },
    { strategy: "redis-setnx", fault: "down" },
    { strategy: "sql-buckets", fault: "down" },
    { strategy: "redis-decrement", fault: "timeout" },
    { strategy: "memcached-cas", fault: "commit-reply-lost" },
    { strategy: "redis-lock", fault: "late-grant" },
  ]);
});
