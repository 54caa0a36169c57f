import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nowNs } from "../services/monotonic";
import { type PoolWaitPhase, recordPoolWait } from "./pool-wait";
import type { OperationTrace } from "./types";

const WAIT_NS = 1_000_000_000n;
/** Tolerance for the time between the readings of the clock. */
const SLACK_NS = 500_000_000n;

function traceAfter(...phases: readonly PoolWaitPhase[]): readonly (number | undefined)[] {
  const trace: OperationTrace = { opId: "op-1", invokedNs: 0n };
  for (const phase of phases) recordPoolWait(trace, nowNs() - WAIT_NS, phase);
  const rounded = (ns: bigint | undefined) => (ns === undefined ? undefined : Number((ns + SLACK_NS) / WAIT_NS));
  return [trace.waitPoolNs, trace.holdPoolNs, trace.commitPoolNs, trace.poolWaitNs].map(rounded);
}

describe("the waits of a purchase for a connection", () => {
  it("count for the phase they fell into, and all of them for the total", () => {
    assert.deepEqual(traceAfter("wait", "hold", "hold", "commit"), [1, 2, 1, 4]);
  });

  it("of failed attempts count as waiting for the turn once the next attempt begins", () => {
    assert.deepEqual(traceAfter("hold", "commit", "wait", "hold"), [3, 1, 0, 4]);
  });
});
