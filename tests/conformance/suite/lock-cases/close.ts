import assert from "node:assert/strict";
import { DEFAULT_RUNNER_OPTIONS } from "../../../../lib/locks/runner-context";
import { type LockCase, withoutServer } from "../case";
import { measureCloses } from "../measure-close";

/** The second of a call, the limit of its release in the background, and a second for the clients to end their sessions. */
const BOUND_MS = 1_000 + DEFAULT_RUNNER_OPTIONS.releaseLimitMs + 1_000;

/** As in a black hole, the bound is in milliseconds, and time in which this process stood still does not count. */
export const closeInBlackHole: LockCase = {
  name: () => `closes within ${BOUND_MS} ms of its last section although its server swallows packets`,
  notApplicable: withoutServer,
  async run(tested) {
    const closes = await measureCloses(tested);
    const longest = (during: string) =>
      Math.max(...closes.filter((each) => each.during === during).map(({ tookMs }) => tookMs)).toFixed(0);
    const situations = [...new Set(closes.map(({ during }) => during))];
    const summary = situations.map((during) => `${during} ${longest(during)}`).join(", ");
    console.log(`${tested.name} closed in a black hole, longest in ms: ${summary}`);
    for (const { during, swallowed, tookMs, stalledMs } of closes) {
      assert.ok(
        tookMs <= BOUND_MS + stalledMs,
        `expected a close during ${during} to end within ${BOUND_MS} ms with ${swallowed} swallowed, found ${tookMs.toFixed(0)} ms`,
      );
    }
  },
};
