import type { History } from "../history/history";
import { holdsOf } from "../history/holds";
import { byHost, servedNs } from "../history/intervals";
import type { Operation } from "../history/operation";
import type { StrategyTraits } from "../locks/types";
import { LONGEST_PAUSE_MS } from "../node/node-stops";
import { elapsedMs } from "../services/monotonic";
import { durationText, settingText } from "../services/number-text";
import type { Expectation, FaultContext, FaultEvent } from "./fault";
import { arrivals, type MatrixSale, RELEASED_WAIT_MS } from "./matrix-sale";
import { networkFault, ofOneNode, withToxics } from "./network-fault";
import { isExtendedByWaiters, orphanedLockMs, setsExpirySeparately } from "./orphaned-lock";

const LOCK_SERVERS = ["redis", "memcached", "etcd"] as const;
/** Other buyers have the lock when the reply arrives: beyond the lease, and beyond what the server adds to it. */
const LATE_PER_LEASE = 1.5;
const LATE_PER_ORPHANED = 1.1;
/** The fault lasts this much longer than its delay, so that late replies arrive while it lasts. */
const SERVED_MS = 1_000;
/** A request without an answer is given up, and taken back, after its lease or this time. */
const TRY_LIMIT_MS = 2_000;
/** Share of that time without a holder that shows a lock whose holder has no answer yet: waiters poll more often than that. */
const PROVEN_SHARE = 0.6;
const SHORTEST_LEASE_MS = 1_000;
const LONGEST_LEASE_MS = 9_000;
const SALE = { rate: 20, durationMs: 3_000, holdMs: 5, waitTimeoutMs: RELEASED_WAIT_MS };

type Interval = Pick<FaultEvent, "fromNs" | "toNs">;

/**
 * The lock is often free in the sale, so that a request of the node is granted. There are two exceptions: without an owner check, the
 * late holder must meet another one; and waiters of etcd stand in a queue, in which the node must have one when the fault begins.
 */
function busierSale({ ownerless, needs }: StrategyTraits): Partial<MatrixSale> {
  if (ownerless) return { rate: 30, holdMs: 20 };
  return needs.includes("etcd") ? { rate: 30, holdMs: 60 } : {};
}

function lateMs(traits: StrategyTraits, ttlMs: number): number {
  const orphanedMs = orphanedLockMs(traits, ttlMs);
  const beyondServerMs = orphanedMs === Infinity ? 0 : LATE_PER_ORPHANED * orphanedMs;
  return Math.ceil(Math.max(LATE_PER_LEASE * ttlMs, beyondServerMs));
}

/**
 * A server grants the lock, and its reply arrives when the lease has ended. A client that counts its lease from the reply believes that
 * it holds a lock which has gone to the next buyer.
 */
export const lateGrant = networkFault({
  id: "late-grant",
  does: "Delays every reply of the lock's server to one store node by more than the lease, so that the reply to an acquisition arrives after its lease has ended.",
  proof:
    "the connections and bytes that the proxies delayed; for most of a lease no purchase held the lock although purchases waited, so that a request without an answer had it",
  durationMs: SERVED_MS,
  defaultDurationMs: ({ traits, ttlMs }) => Math.min(LONGEST_PAUSE_MS, lateMs(traits, ttlMs) + SERVED_MS),
  servers: LOCK_SERVERS,
  whyNotApplicable,
  expectationOf,
  whyNotInMatrix: (traits) =>
    setsExpirySeparately(traits)
      ? "its request is given up between two late replies, and whether its last DEL meets another holder is chance"
      : null,
  matrixSale: (traits) => arrivals(traits, { ...SALE, ...busierSale(traits) }),
  chosen: ofOneNode,
  apply: (proxy, { traits, ttlMs }) =>
    withToxics({
      type: "latency",
      stream: "downstream",
      attributes: { latency: lateMs(traits, ttlMs), jitter: 0 },
    })(proxy),
  whyUnproven,
});

function whyNotApplicable({ traits, ttlMs, nodes }: FaultContext): string | null {
  if (traits.kind === "atomic") return "it changes the stock in one operation, so it waits for no grant";
  if (traits.needs.includes("redlock")) return "it needs the replies of a majority; slow-quorum delays those";
  if (traits.needs.includes("zookeeper"))
    return "its lock has no lease: it lasts as long as a session; session-expiry ends one";
  if (!LOCK_SERVERS.some((server) => traits.needs.includes(server)) || traits.expiryClock === "none") {
    return "its lock has no lease that could end before the reply arrives";
  }
  if (ttlMs < SHORTEST_LEASE_MS)
    return `a lease of ${settingText(ttlMs)} is too short to prove it; choose at least ${settingText(SHORTEST_LEASE_MS)}`;
  if (lateMs(traits, ttlMs) + SERVED_MS > LONGEST_PAUSE_MS)
    return `a lease of ${settingText(ttlMs)} outlasts the fault; choose at most ${settingText(LONGEST_LEASE_MS)}`;
  return nodes < 2 ? "it needs a second store node that sells while the replies to one are late" : null;
}

function expectationOf({ traits }: FaultContext): Expectation {
  if (isExtendedByWaiters(traits)) {
    return {
      effect: "safe",
      reason: "Each poll of a waiter extends the lock, so it is still taken when the reply arrives.",
    };
  }
  if (traits.ownerless) {
    return {
      effect: "unsafe",
      reason:
        "The holder does not check its lease: it uses the late grant, or its DEL takes back the lock of the next holder.",
    };
  }
  return {
    effect: "safe",
    reason:
      "The client counts the lease from its request, so it does not use the late grant, and takes back the request under its own owner or lease.",
  };
}

function whyUnproven({ ops }: History, event: Interval, { traits, ttlMs }: Pick<FaultContext, "traits" | "ttlMs">) {
  const neededMs = lateMs(traits, ttlMs);
  if (elapsedMs(event.fromNs, event.toNs) < neededMs)
    return `it ended before the first reply was ${durationText(neededMs)} late; choose a longer fault and load`;
  const longestMs = Math.max(0, ...[...byHost(ops).values()].map((onHost) => longestIdleMs(onHost, event)));
  const leastMs = PROVEN_SHARE * Math.min(ttlMs, TRY_LIMIT_MS);
  if (longestMs >= leastMs) return null;
  return `purchases waited without a holder for ${durationText(longestMs)} at most, so no request without an answer had the lock for ${durationText(leastMs)}`;
}

/** The longest part of the fault in which purchases on two nodes waited for the lock and none held it. */
function longestIdleMs(ops: readonly Operation[], { fromNs, toNs }: Interval): number {
  const [first] = ops;
  if (!first) return 0;
  const at = (reading: bigint) => Number(reading - first.clock.originNs);
  let longestNs = 0;
  let freeFrom = at(fromNs);
  for (const hold of [...holdsOf(ops), { fromNs: at(toNs), toNs: at(toNs) }]) {
    const freeTo = Math.min(hold.fromNs, at(toNs));
    longestNs = Math.max(longestNs, freeTo - Math.max(freeFrom, waitedFrom(ops, freeTo)));
    freeFrom = Math.max(freeFrom, hold.toNs);
  }
  return longestNs / 1e6;
}

/** Since when purchases on two nodes have waited without an end before this time: one of them gets its replies in time. */
function waitedFrom(ops: readonly Operation[], to: number): number {
  const byNode = new Map<string, number>();
  for (const op of ops) {
    if ((servedNs(op) ?? op.answeredNs ?? Infinity) < to) continue;
    byNode.set(op.node, Math.min(byNode.get(op.node) ?? Infinity, op.waitNs ?? Infinity));
  }
  return [...byNode.values()].sort((a, b) => a - b)[1] ?? Infinity;
}
