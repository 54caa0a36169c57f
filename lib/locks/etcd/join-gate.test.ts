import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { JoinGate } from "./join-gate";

const never = new AbortController().signal;

/** A join that ends when told to. */
function openJoin() {
  let end: (error?: Error) => void = () => {};
  const join = () =>
    new Promise<string>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve("joined"));
    });
  return { join, end: (error?: Error) => end(error) };
}

describe("JoinGate", () => {
  it("has room for as many as it is wide", async () => {
    const gate = new JoinGate(2);
    const [first, second] = [openJoin(), openJoin()];
    const runs = [gate.run(first.join), gate.run(second.join)];
    assert.equal(gate.hasRoom, false);
    first.end();
    assert.equal(await runs[0], "joined");
    assert.equal(gate.hasRoom, true);
    second.end();
    await Promise.all(runs);
  });

  it("wakes the one who has waited longest, one for each join that ends", async () => {
    const gate = new JoinGate(1);
    const running = openJoin();
    const run = gate.run(running.join);
    const woken: string[] = [];
    const waits = ["first", "second"].map((name) => gate.untilRoom(never).then(() => woken.push(name)));
    running.end();
    await run;
    await waits[0];
    assert.deepEqual(woken, ["first"]);
    await gate.run(async () => "joined");
    await waits[1];
    assert.deepEqual(woken, ["first", "second"]);
  });

  it("lets everybody through while joins fail, so that each finds out for itself", async () => {
    const gate = new JoinGate(1);
    const [failing, stuck] = [openJoin(), openJoin()];
    const run = gate.run(failing.join);
    const waits = [gate.untilRoom(never), gate.untilRoom(never)];
    failing.end(new Error("down"));
    await assert.rejects(run, /down/);
    await Promise.all(waits);
    const other = gate.run(stuck.join);
    assert.equal(gate.hasRoom, true);
    stuck.end();
    await other;
    const next = openJoin();
    const narrow = gate.run(next.join);
    assert.equal(gate.hasRoom, false, "still open after a join that succeeded");
    next.end();
    await narrow;
  });

  it("ends a wait when its signal aborts, and hands its turn to the next", async () => {
    const gate = new JoinGate(1);
    const running = openJoin();
    const run = gate.run(running.join);
    const caller = new AbortController();
    const gone = gate.untilRoom(caller.signal);
    const next = gate.untilRoom(never);
    caller.abort();
    await gone;
    running.end();
    await Promise.all([run, next]);
  });
});
