import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type RecordedCommand, type Recording, recordedCommands } from "@/lib/stock/recorded-commands";
import { commandCounts, roundTrips } from "./command-counts";
import { commandLabel, messageLabel } from "./command-label";
import { sequenceOf } from "./sequence-rows";

function recordingOf(id: string): Recording {
  const recording = recordedCommands.strategies[id];
  assert.ok(recording);
  return recording;
}

const COMMAND = { kind: "command", buyer: "A", name: "X", reply: "OK", at: 0, answeredAt: 1 } as const;
const labelOf = (command: Pick<RecordedCommand, "server" | "text"> & Partial<RecordedCommand>) =>
  commandLabel({ ...COMMAND, ...command }, 80);

describe("the sequence diagram of a strategy", () => {
  it("shows who holds the lock: never both under a lock across nodes, both without one", () => {
    for (const id of ["redis-lock", "zk-mutex", "sql-row-lock", "etcd-lock"]) {
      const [a, b] = sequenceOf(recordingOf(id)).holds;
      assert.ok(a && b && a.to < b.from, `${id}: expected the hold of B to begin after the hold of A`);
    }
    const [a, b] = sequenceOf(recordingOf("none")).holds;
    assert.ok(a && b && b.from < a.to, "none: expected both buyers inside at once");
  });

  it("shows the reply to a command that waits after what happened meanwhile", () => {
    const { rows } = sequenceOf(recordingOf("sql-row-lock"));
    const waits = rows.findIndex(({ buyer, kind }) => buyer === "B" && kind === "call");
    const granted = rows.findIndex(({ buyer, kind }) => buyer === "B" && kind === "reply");
    assert.equal(rows[waits]?.reply, null);
    const between = rows.slice(waits + 1, granted).map(({ buyer, text }) => `${buyer} ${text}`);
    assert.ok(between.includes("A COMMIT"), `expected A's commit before B's lock, found ${between.join(", ")}`);
  });

  it("shows what wakes a waiter", () => {
    for (const id of ["redis-reentrant", "zk-mutex", "etcd-lock"]) {
      assert.ok(
        sequenceOf(recordingOf(id)).rows.some(({ kind, buyer }) => kind === "notice" && buyer === "B"),
        `${id}: expected a notice to buyer B`,
      );
    }
  });

  it("labels commands with what matters", () => {
    const update =
      "WITH taken AS ( UPDATE products SET stock = $2::int, version = version + 1 WHERE id = $1::int RETURNING id) INSERT INTO orders (a) SELECT $3";
    assert.equal(
      labelOf({ server: "postgres", text: update, values: ["7", "97", "buyer-A"] }),
      "UPDATE products SET stock = 97 WHERE id = 7 + INSERT order",
    );
    assert.equal(
      labelOf({
        server: "postgres",
        text: "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL a = 1; SELECT 1 FROM t FOR UPDATE",
      }),
      "BEGIN READ COMMITTED; SELECT 1 FROM t FOR UPDATE",
    );
    assert.equal(labelOf({ server: "redis", text: "SET k 9f2ae3d4c5b6a7980123456789abcdef NX" }), "SET k 9f2ae3… NX");
    const range = 'POST /v3/kv/deleterange {"key":"locks/product:1/2dd3a35f13fedad7"}';
    assert.equal(labelOf({ server: "etcd", text: range }), "POST /v3/kv/deleterange locks/product:1/2dd3a3…");
    assert.equal(messageLabel('revision 16 {"deleted":"1"}'), "revision 16 deleted 1");
    assert.equal(messageLabel('revision 9 {"events":[{"type":"DELETE","kv":{"key":"a"}}]}'), "revision 9 DELETE a");
  });

  it("counts the commands of one purchase", () => {
    assert.deepEqual(commandCounts(recordingOf("redis-set-px")), [
      { server: "redis", commands: 2 },
      { server: "postgres", commands: 2 },
    ]);
    assert.deepEqual(commandCounts(recordingOf("redlock"))[0], { server: "redlock", commands: 10 });
    assert.equal(roundTrips(recordingOf("sql-guarded")), 1);
  });
});
