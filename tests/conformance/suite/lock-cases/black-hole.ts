import assert from "node:assert/strict";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { type LockCase, withoutServer } from "../case";
import { type CallKind, measureBlackHole, type Overrun } from "../measure-black-hole";

/** What every lock promises: a call lasts at most its wait, plus its section, plus this time. */
const BOUND_MS = 1_000;
/** A client may first have to notice that its connection is useless, and open another one. */
const RECOVERY_LIMIT_MS = 5_000;

const isRenewed = ({ expiryClock, ownerless }: StrategyTraits) => expiryClock === "server" && !ownerless;

/** A bound in milliseconds, because callers rely on it. Time in which this process stood still does not count. */
export const blackHole: LockCase = {
  name: () =>
    "ends each call within a second of its wait and section although its server swallows packets, and recovers",
  notApplicable: withoutServer,
  async run(tested) {
    const overruns = await measureBlackHole(tested, { isRenewed: isRenewed(tested.traits) });
    console.log(`${tested.name} in a black hole: ${summarize(overruns)}`);
    for (const { call, swallowed, overrunMs, stalledMs, recoveredMs, recoveryStalledMs } of overruns) {
      assert.ok(
        overrunMs <= BOUND_MS + stalledMs,
        `expected ${call} to end within ${BOUND_MS} ms with ${swallowed} swallowed, found ${overrunMs.toFixed(0)} ms`,
      );
      assert.ok(
        recoveredMs <= RECOVERY_LIMIT_MS + recoveryStalledMs,
        `expected a grant within ${RECOVERY_LIMIT_MS} ms after ${call}, found ${recoveredMs.toFixed(0)} ms`,
      );
    }
  },
};

function summarize(overruns: readonly Overrun[]): string {
  const calls = [...new Set(overruns.map(({ call }) => call))];
  const longest = (times: readonly number[]) => Math.max(...times).toFixed(0);
  const of = (call: CallKind) => overruns.filter((each) => each.call === call).map(({ overrunMs }) => overrunMs);
  const recovery = longest(overruns.map(({ recoveredMs }) => recoveredMs));
  return `longest overrun in ms: ${calls.map((call) => `${call} ${longest(of(call))}`).join(", ")}; recovery ${recovery}`;
}
