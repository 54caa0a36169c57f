import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import type { Fault } from "./fault";
import { redisProcess, shutDownRedis, untilRestartedEmpty } from "./redis-admin";
import { BARE_MAJORITY_SALE, onBareMajority } from "./redlock-majority";
import { restartExpectation, whyNoHoldCovers } from "./server-restart";

/**
 * The first holder has the lock on a bare majority of the Redlock servers, because the others are cut off. One server of the
 * majority restarts empty, and the others come back: the next client gets a majority too.
 */
export const redlockNodeRestart: Fault = {
  id: "redlock-node-restart",
  does: "Cuts two Redlock servers off (CLIENT PAUSE) until a buyer holds the lock on the other three, then restarts one of the three empty and lets the two answer again.",
  proof:
    "the lock's value on the three servers, and no key on the two; another process of the third server (run_id) answers and has loaded no key; a holder worked from before its end until after its start",
  defaultDurationMs: () => null,

  whyNotApplicable({ traits }) {
    return traits.needs.includes("redlock") ? null : "it does not use the Redlock servers";
  },

  whyUnavailable() {
    if (env().FAULTS_MAY_EMPTY.includes("redlock")) return null;
    return "the lab did not start these Redlock servers; start the lab with FAULTS_MAY_EMPTY=redlock to let it empty one";
  },

  expectationOf: ({ traits }) => restartExpectation(traits),
  matrixSale: () => BARE_MAJORITY_SALE,

  async inject(injection) {
    const { url, number, value, before, fromNs } = await onBareMajority(injection, async (last) => {
      const process = await redisProcess(last.server);
      const endNs = nowNs();
      await shutDownRedis(last.server, process);
      return { ...last, before: process, fromNs: endNs };
    });
    const after = await untilRestartedEmpty(url, before);
    const toNs = nowNs();
    const downMs = Math.round(elapsedMs(fromNs, toNs));
    const proof = `Servers 1 to ${number} had the lock of ${value} while the others were cut off; server ${number} ended (${before.runId}) and answered ${downMs} ms later without keys (${after.runId}).`;
    return { fromNs, toNs, proof };
  },

  whyUnproven: whyNoHoldCovers,
};
