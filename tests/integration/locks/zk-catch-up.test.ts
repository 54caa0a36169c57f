import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { it } from "node:test";
import { catchUp } from "../../../lib/locks/zookeeper/catch-up";
import type { ZkConnection } from "../../../lib/locks/zookeeper/zk-port";
import { openLockClients } from "../../support/lock-clients";

/** Above the number of transactions that parallel tests commit meanwhile. */
const CATCH_UPS = 300;

/** The transaction number of a write. */
async function zxidOf(connection: ZkConnection): Promise<bigint> {
  const path = await connection.create(`/catch-up-${randomUUID()}`, "ephemeral");
  const stat = await connection.stat(path);
  assert.ok(stat);
  return stat.czxid;
}

it("ZooKeeper commits a transaction for each catch-up, even though the node does not exist", async () => {
  await using clients = openLockClients();
  const connection = await clients.zookeeper().connected(AbortSignal.timeout(5_000));
  const lock = await connection.create(`/catch-up-${randomUUID()}`, "ephemeral");
  for (const absent of [`${lock}/child`, `${lock}-absent`, `/absent-${randomUUID()}/child`]) {
    const before = await zxidOf(connection);
    await Promise.all(Array.from({ length: CATCH_UPS }, () => catchUp(connection, absent)));
    const committed = (await zxidOf(connection)) - before;
    assert.ok(committed > CATCH_UPS, `${absent}: expected more than ${CATCH_UPS} transactions, found ${committed}`);
  }
});
