import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText } from "../services/number-text";
import { resourceOf } from "../stock/types";
import { whyNotHeld, whyNotServed } from "./ensemble-proof";
import { type Fault, FaultMissed } from "./fault";
import { openLockView } from "./lock-owner";
import { arrivals } from "./matrix-sale";
import { whyNoProxies } from "./network-fault";
import { type TopologyLease, whyNoTopology } from "./topologies/topology-lease";
import { ZK_MEMBERS } from "./topologies/zk-names";
import { holderText, untilWorking } from "./working-holder";
import { ensembleStates, hasSession, statesText, untilLed } from "./zk-ensemble";

/** The kill comes at the start of this work, so that the holder still works while the others elect a leader. */
const WORK_MS = 1_000;

/** The leader of an ensemble dies. The other members have every node and every session, and elect another leader. */
export const zkLeaderKill: Fault = {
  id: "zk-leader-kill",
  topology: "zk-3",
  does: "Sells through three ZooKeeper servers and kills their leader (SIGKILL) while a buyer holds the lock. The other two elect another leader, and the lab starts the killed server again.",
  proof:
    "the mode of each server before and after the kill (srvr); the new leader's epoch is higher, and whether it has the session of the holder (dump); a buyer held the lock at the kill, and a purchase got it after the election",
  defaultDurationMs: () => null,

  whyNotApplicable: ({ traits }) => (traits.needs.includes("zookeeper") ? null : "it keeps nothing in ZooKeeper"),
  whyUnavailable: () => whyNoTopology() ?? whyNoProxies(env().STORE_NODES),

  expectationOf: () => ({
    effect: "safe",
    reason:
      "The other servers have every session, so the lock stays taken. The holder loses its connection, so it does not write.",
  }),
  matrixSale: (traits) => arrivals(traits, { rate: 20, durationMs: 5_000, waitTimeoutMs: 25_000 }),

  async inject(injection) {
    const { topology, node, target, traits, atMs } = injection;
    if (!topology) throw new FaultMissed("the run has no topology");
    const before = await ensembleStates(topology);
    const leader = before.find(({ mode }) => mode === "leader");
    if (!leader) throw new FaultMissed("no ZooKeeper server was the leader");
    await using view = openLockView(traits, resourceOf(target), topology.addresses.servers.zookeeper);
    await view.owner(); // Connects, so that the next reading takes milliseconds.
    // Armed before the first purchase: on a busy machine, a short sale would be over first.
    const index = await node.armStop({ point: "in-work", atMs, durationMs: WORK_MS });
    const holder = await untilWorking(injection, index);
    const held = await view.owner();
    if (held === null) throw new FaultMissed("the lock had no entry although a buyer held it");
    const { next, keepsSession, ...interval } = await kill(topology, leader.member, held.owner);
    if (next.epoch <= leader.epoch) {
      throw new FaultMissed(`${next.member} led in epoch ${next.epoch}, not after epoch ${leader.epoch}`);
    }
    const after = await ensembleStates(topology);
    const took = durationText(elapsedMs(interval.fromNs, interval.toNs));
    const proof = `${leader.member} led in epoch ${leader.epoch} and was killed while ${holderText(holder)} held the lock through session 0x${held.owner}; ${took} later, ${next.member} led in epoch ${next.epoch} and ${keepsSession ? "had" : "no longer had"} that session. Before: ${statesText(before)}. After: ${statesText(after)}.`;
    return { ...interval, proof };
  },

  whyUnproven: (history, { fromNs, toNs }) => whyNotHeld(history, fromNs) ?? whyNotServed(history, { afterNs: toNs }),
};

/** Kills the leader, waits for the next one, and starts the killed server again. */
async function kill(topology: TopologyLease, leader: string, sessionId: string) {
  const fromNs = nowNs();
  await topology.kill(leader);
  try {
    const next = await untilLed(
      topology,
      ZK_MEMBERS.filter((member) => member !== leader),
    );
    const toNs = nowNs();
    return { fromNs, toNs, next, keepsSession: await hasSession(topology, next.member, sessionId) };
  } finally {
    await topology.revive(leader);
  }
}
