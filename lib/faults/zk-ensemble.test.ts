import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { dumpHasSession, parseSrvr, statesText } from "./zk-ensemble";

const SRVR = `Zookeeper version: 3.8.0, built on 2024-12-29 17:54 UTC
Connections: 1
Zxid: 0x20000001f
Mode: leader
Node count: 6
`;
const DUMP = `SessionTracker dump:
Session Sets (1)/(1):
1 expire at Sun Nov 22 21:18:59 UTC 2026:
	0x10002b8acdb0000
ephemeral nodes dump:
Sessions with Ephemerals (1):
0x10002b8acdb0001:
	/locks/product:1/_c_-lock-0000000000
`;

describe("the state of a ZooKeeper ensemble", () => {
  it("has the mode and the epoch of each member", () => {
    const states = [
      parseSrvr("zk-1", SRVR),
      parseSrvr("zk-2", "This ZooKeeper instance is not currently serving requests\n"),
      parseSrvr("zk-3", ""),
    ];
    assert.deepEqual(states, [
      { member: "zk-1", mode: "leader", epoch: 2 },
      { member: "zk-2", mode: null, epoch: 0 },
      { member: "zk-3", mode: null, epoch: 0 },
    ]);
    assert.equal(statesText(states), "zk-1 leader, zk-2 not serving, zk-3 not serving");
  });

  it("has a session only if the leader tracks it, not if it only has its nodes", () => {
    const found = ["10002b8acdb0000", "10002b8acdb0001", "10002b8acdb"].map((id) => dumpHasSession(DUMP, id));
    assert.deepEqual(found, [true, false, false]);
    for (const unknown of ["", "This ZooKeeper instance is not currently serving requests\n"]) {
      assert.equal(dumpHasSession(unknown, "10002b8acdb0000"), undefined);
    }
  });
});
