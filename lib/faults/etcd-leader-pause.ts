import { setTimeout as delay } from "node:timers/promises";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText } from "../services/number-text";
import { whyNotHeld, whyNotServed } from "./ensemble-proof";
import { type EtcdLeader, untilEtcdLed } from "./etcd-cluster";
import { type Fault, FaultMissed, type Injection } from "./fault";
import { arrivals } from "./matrix-sale";
import { whyNoProxies } from "./network-fault";
import { ETCD_MEMBERS } from "./topologies/etcd-names";
import { type TopologyLease, whyNoTopology } from "./topologies/topology-lease";
import { holderText, untilWorking } from "./working-holder";

/** Several times as long as an election. */
const PAUSE_MS = 5_000;
/** The pause begins at the start of this work, so that the holder works while the leader is stopped. */
const WORK_MS = 1_000;
/** An election may take longer than the pause should last. */
const DEADLINE_MS = 30_000;

/**
 * The leader of a cluster stops answering, but keeps its connections. The other members elect another leader. When the old
 * one continues, it still takes itself for the leader, until it hears of the new term.
 */
export const etcdLeaderPause: Fault = {
  id: "etcd-leader-pause",
  topology: "etcd-3",
  does: "Sells through three etcd members and stops their leader (SIGSTOP) while a buyer holds the lock. The other two elect another leader, and the old one continues later.",
  proof:
    "the leader's id and the raft term before the pause, and those that the other members report during it; all members agree on a later term afterwards; a buyer held the lock when the pause began, and a purchase got it before the pause ended",
  defaultDurationMs: () => PAUSE_MS,

  whyNotApplicable: ({ traits }) => (traits.needs.includes("etcd") ? null : "it keeps nothing in etcd"),
  whyUnavailable: () => whyNoTopology() ?? whyNoProxies(env().STORE_NODES),

  expectationOf: () => ({
    effect: "safe",
    reason:
      "A majority confirms each lock and lease, so the stopped leader can grant none. A holder whose lease it cannot renew does not write.",
  }),
  matrixSale: (traits) => arrivals(traits, { rate: 20, durationMs: PAUSE_MS + 3_000, waitTimeoutMs: 25_000 }),

  async inject(injection) {
    const { topology, node } = injection;
    if (!topology) throw new FaultMissed("the run has no topology");
    const before = await untilEtcdLed(topology, {});
    await injection.untilDue();
    const index = await node.armStop({ point: "in-work", atMs: 0, durationMs: WORK_MS });
    const holder = await untilWorking(injection, index);
    const { after, electedNs, ...interval } = await pause(topology, before, injection);
    const final = await untilEtcdLed(topology, { afterTerm: before.term });
    const electedMs = durationText(elapsedMs(interval.fromNs, electedNs));
    const pausedMs = durationText(elapsedMs(interval.fromNs, interval.toNs));
    const proof = `${before.member} (id ${before.id}) led in term ${before.term} and was stopped for ${pausedMs} while ${holderText(holder)} held the lock; after ${electedMs}, ${after.member} (id ${after.id}) led in term ${after.term}. After the pause, all members followed ${final.member} in term ${final.term}.`;
    return { ...interval, proof };
  },

  whyUnproven: (history, { fromNs, toNs }) =>
    whyNotHeld(history, fromNs) ?? whyNotServed(history, { afterNs: fromNs, beforeNs: toNs }),
};

/** Stops the leader until the time is over, and the other members have another leader. */
async function pause(topology: TopologyLease, leader: EtcdLeader, { durationMs, closing }: Injection) {
  const fromNs = nowNs();
  await topology.pause(leader.member, Math.max(DEADLINE_MS, durationMs));
  try {
    const members = ETCD_MEMBERS.filter((member) => member !== leader.member);
    const after = await untilEtcdLed(topology, { members, afterTerm: leader.term });
    const electedNs = nowNs();
    const leftMs = Math.max(0, durationMs - elapsedMs(fromNs));
    await delay(leftMs, undefined, { signal: closing }).catch(() => undefined);
    return { fromNs, toNs: nowNs(), after, electedNs };
  } finally {
    await topology.resume(leader.member);
  }
}
