import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { ZkConnection, ZkSession } from "../../../lib/locks/zookeeper/zk-port";
import { openZkSession } from "../../../lib/locks/zookeeper/zk-session";
import { requireEnv } from "../../support/lab-env";
import { waitUntil } from "../../support/wait-until";

requireEnv("ZOOKEEPER_HOSTS");

/** More than the ten listeners after which Node.js warns of a leak. */
const WAITERS = 30;

describe("ZooKeeper watches of one process on one znode", () => {
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

  it("notify each of 30 waiters once, without a listener leak", async () => {
    const path = `/watched-${randomUUID()}`;
    for (const round of [1, 2]) {
      await connection.create(path, "ephemeral");
      const notified = Array.from({ length: WAITERS }, () => 0);
      const areSet = await Promise.all(
        notified.map((_, at) =>
          connection.watch(path, () => {
            notified[at] = (notified[at] ?? 0) + 1;
          }),
        ),
      );
      assert.ok(areSet.every(Boolean));
      assert.ok(await connection.remove(path));
      await waitUntil(() => notified.every((count) => count > 0), {
        what: `every waiter to be notified in round ${round}`,
      });
      // Replies on one connection arrive in order, so all notifications have arrived with this one.
      await connection.stat(path);
      assert.deepEqual(
        notified,
        Array.from({ length: WAITERS }, () => 1),
      );
    }
    assert.equal(
      await connection.watch(path, () => assert.fail("expected no notification for a znode that does not exist")),
      false,
    );
    assert.deepEqual(warnings, []);
  });
});
