import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseHistory } from "../history/parse";
import { withProvenFaults } from "./proven-faults";
import { runDocument } from "./testing/run-fixture";

/** Milliseconds after the first reading, as a reading of a clock whose values exceed what a double can hold. */
const at = (ms: number) => String(9_007_199_254_740_993n + BigInt(ms) * 1_000_000n);
const pause = { faultId: "pause-holder", fromNs: at(100), toNs: at(2_600), proof: "node-1 was stopped." };

function buyer(name: string, times: { waitMs: number; grantedMs?: number; answeredMs: number }) {
  const { waitMs, grantedMs, answeredMs } = times;
  const granted = grantedMs === undefined ? {} : { grantedNs: at(grantedMs), releasedNs: at(answeredMs) };
  const facts = { type: "op", opId: name, node: "node-1", host: "h", buyerId: name, quantity: 1, outcome: "contended" };
  return { ...facts, invokedNs: at(waitMs), waitNs: at(waitMs), ...granted, answeredNs: at(answeredMs) };
}

async function documentWith(others: readonly object[]) {
  const run = {
    type: "run",
    runId: "r",
    strategy: "redis-lock",
    resource: "product:1",
    initial: 1,
    limitPerBuyer: null,
    hosts: 1,
  };
  const holder = buyer("holder", { waitMs: 0, grantedMs: 50, answeredMs: 2_700 });
  const lines = [run, holder, ...others, { type: "end", final: 1, orders: [], dropped: 0 }];
  const { history } = await parseHistory(lines.map((line) => `${JSON.stringify(line)}\n`));
  return withProvenFaults(runDocument({ faults: [pause] }), history);
}

describe("a pause of a holder", () => {
  it("is proven by a waiter during the pause, whether it was served or not", async () => {
    for (const waiter of [
      buyer("served", { waitMs: 200, grantedMs: 1_200, answeredMs: 1_250 }),
      buyer("refused", { waitMs: 2_599, answeredMs: 3_000 }),
      buyer("early", { waitMs: 10, grantedMs: 101, answeredMs: 110 }),
    ]) {
      const { faults, missedFaults } = await documentWith([waiter]);
      assert.deepEqual([faults, missedFaults], [[pause], undefined], waiter.opId);
    }
  });

  it("is not proven without a waiter", async () => {
    const before = buyer("before", { waitMs: 10, grantedMs: 20, answeredMs: 40 });
    const after = buyer("after", { waitMs: 2_600, grantedMs: 2_750, answeredMs: 2_800 });
    const { faults, missedFaults } = await documentWith([before, after]);
    assert.deepEqual(faults, []);
    assert.deepEqual(missedFaults, [
      { faultId: "pause-holder", reason: "no other purchase waited for the lock during the fault" },
    ]);
  });
});
