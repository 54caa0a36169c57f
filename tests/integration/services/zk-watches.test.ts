import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { ZkConnection, ZkSession } from "../../../lib/locks/zookeeper/zk-port";
import { openZkSession } from "../../../lib/locks/zookeeper/zk-session";
import { requireEnv } from "../../support/lab-env";
import { waitUntil } from "../../support/wait-until";

requireEnv("ZOOKEEPER_HOSTS");

/** Node.js warns of a leak at eleven listeners. */
const WAITERS = 30;

describe("watches of one process on one node", () => {
  let session: ZkSession;
  let connection: ZkConnection;
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);

  before(async () => {
    process.on("warning", onWarning);
    session = openZkSession(process.env.ZOOKEEPER_HOSTS ?? "");
    connection = await session.connected(AbortSignal.timeout(10_000));
  });
  after(async () => {
    process.off("warning", onWarning);
    await session[Symbol.asyncDispose]();
  });

  it("tell every waiter once, however many there are, and are no leak", async () => {
    const path = `/watched-${randomUUID()}`;
    for (const round of [1, 2]) {
      await connection.create(path, "ephemeral");
      const told = Array.from({ length: WAITERS }, () => 0);
      const areSet = await Promise.all(
        told.map((_, at) =>
          connection.watch(path, () => {
            told[at] = (told[at] ?? 0) + 1;
          }),
        ),
      );
      assert.ok(areSet.every(Boolean));
      assert.ok(await connection.remove(path));
      await waitUntil(() => told.every((times) => times > 0), { what: `every waiter is told in round ${round}` });
      // Another answer over the same connection comes after whatever else was to be told.
      await connection.stat(path);
      assert.deepEqual(
        told,
        Array.from({ length: WAITERS }, () => 1),
      );
    }
    assert.equal(await connection.watch(path, () => assert.fail("there is nothing to watch")), false);
    assert.deepEqual(warnings, []);
  });
});
