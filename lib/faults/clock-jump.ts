import { setTimeout as delay } from "node:timers/promises";
import { moveClock, whyNoMovableClock } from "../../servers/redlock/movable-clock";
import type { RedisSession } from "../locks/redis/redis-port";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText } from "../services/number-text";
import { resourceOf } from "../stock/types";
import { type Fault, type FaultEvent, FaultMissed, type Injection } from "./fault";
import { configOf } from "./redis-admin";
import { BARE_MAJORITY_SALE, type LastVote, onBareMajority } from "./redlock-majority";
import { redlockNodeRestart } from "./redlock-node-restart";

/** Beyond the lease. */
const JUMP_MARGIN_MS = 1_000;
/** The clock is right again after this time, also if the lab dies. */
const JUMP_LIMIT_MS = 3_000;
const POLL_MS = 5;

/**
 * The first holder has the lock on a bare majority of the Redlock servers, because the others are cut off. The clock of one
 * server of the majority jumps past the lease, and the others come back: the next client gets a majority too.
 */
export const clockJump: Fault = {
  id: "clock-jump",
  does: "Cuts two Redlock servers off (CLIENT PAUSE) until a buyer holds the lock on the other three, then moves the wall clock of one of the three past the lease and lets the two answer again.",
  proof:
    "the lock's value on the three servers, and no key on the two; the third server's wall clock (TIME) before and after; the same process no longer has the key; a holder worked for the whole fault",
  defaultDurationMs: () => null,

  whyNotApplicable: (run) => redlockNodeRestart.whyNotApplicable(run),
  whyUnavailable: () => redlockNodeRestart.whyUnavailable?.() ?? whyNoMovableClock(),

  expectationOf: () => ({
    effect: "unsafe",
    reason: "A server whose clock jumps ends the lease early, so the next buyer gets a majority beside the holder.",
  }),
  matrixSale: () => BARE_MAJORITY_SALE,

  inject: (injection) => onBareMajority(injection, (last) => jumpPastLease(last, injection)),

  whyUnproven: (...seen) => redlockNodeRestart.whyUnproven?.(...seen) ?? null,
};

async function jumpPastLease({ server, number, value }: LastVote, { ttlMs, target }: Injection): Promise<FaultEvent> {
  const dir = await configOf(server, "dir");
  const fromNs = nowNs();
  const aheadBeforeMs = await aheadMs(server);
  const jump = { offsetMs: ttlMs + JUMP_MARGIN_MS, forMs: JUMP_LIMIT_MS };
  if (!(await moveClock(dir, jump))) {
    throw new FaultMissed(`the clock of server ${number} cannot be moved: the lab started it without a C compiler`);
  }
  try {
    await untilGone(server, resourceOf(target));
    const jumpedMs = (await aheadMs(server)) - aheadBeforeMs;
    if (jumpedMs < ttlMs)
      throw new FaultMissed(`the clock of server ${number} moved by ${durationText(jumpedMs)} only`);
    const proof = `Servers 1 to ${number} had the lock of ${value} while the others were cut off; the clock of server ${number} went ${durationText(jumpedMs)} forward, past the lease of ${durationText(ttlMs)}, and the key was gone.`;
    return { fromNs, toNs: nowNs(), proof };
  } finally {
    await moveClock(dir, { offsetMs: 0, forMs: 0 });
  }
}

/** How far the server's wall clock is ahead of this process's. */
async function aheadMs(server: RedisSession): Promise<number> {
  const [seconds, micros] = (await server.call("TIME")) as readonly [string, string];
  return Number(seconds) * 1_000 + Number(micros) / 1_000 - Date.now();
}

async function untilGone(server: RedisSession, key: string): Promise<void> {
  const beganNs = nowNs();
  while (Number(await server.call("EXISTS", key)) === 1) {
    if (elapsedMs(beganNs) > JUMP_LIMIT_MS) throw new FaultMissed("the server kept the key although its clock moved");
    await delay(POLL_MS);
  }
}
