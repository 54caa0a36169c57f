import type { History } from "../history/history";
import type { Operation } from "../history/operation";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText } from "../services/number-text";
import { resourceOf } from "../stock/types";
import { whyNotHeld } from "./ensemble-proof";
import { type Fault, type FaultEvent, FaultMissed } from "./fault";
import { type LockOwner, type LockView, openLockView } from "./lock-owner";
import { crowd } from "./matrix-sale";
import { whyNoProxies } from "./network-fault";
import type { ServerProxy } from "./run-proxies";
import { type TopologyLease, whyNoTopology } from "./topologies/topology-lease";
import { ZK_ISOLATED, ZK_LINKS, ZK_MEMBERS } from "./topologies/zk-names";
import { untilKnown } from "./until-known";
import { holderText, untilWorking } from "./working-holder";
import { ensembleStates, servesSession, statesText } from "./zk-ensemble";

/** The holder still works when the majority has given its lock to another buyer, on a busy machine too. */
const WORK_MS = 10_000;
/** For each of the two steps. The majority may elect a leader first, which gives each session its whole timeout again. */
const STEP_LIMIT_MS = 15_000;
/** The links pass data again then, also if the dashboard hangs. If it dies, the topology ends. */
const DEADLINE_MS = 2 * STEP_LIMIT_MS;

const MAJORITY = ZK_MEMBERS.filter((member) => member !== ZK_ISOLATED);

/**
 * A partition of the network with a holder and the server of its session on the minority side. Connections between the servers stay
 * open, but no message passes, so each side detects the partition only by its timeouts.
 */
export const zkPartition: Fault = {
  id: "zk-partition",
  topology: "zk-3",
  does: "Sells through three ZooKeeper servers and partitions the network: the node of a working holder reaches only one server, and that server reaches no other one. The partition ends when the majority has given the lock to another buyer.",
  proof:
    "the server that had the holder's session (cons), and the mode of each server before the partition and at its end (srvr); the majority gave the lock to another session during the partition, while the holder still worked",
  defaultDurationMs: () => null,
  proxiedServers: () => ["zookeeper"],

  whyNotApplicable({ traits, nodes }) {
    if (!traits.needs.includes("zookeeper")) return "it keeps nothing in ZooKeeper";
    return nodes < 2 ? "it needs a second store node, which sells on the side of the majority" : null;
  },
  whyUnavailable: () => whyNoTopology() ?? whyNoProxies(env().STORE_NODES),

  expectationOf: () => ({
    effect: "safe",
    reason:
      "A server that cannot reach the majority closes its clients' connections after about two seconds, so the holder does not write. The majority keeps the lock for the session timeout of six seconds.",
  }),
  matrixSale: (traits) => crowd(traits, { waitTimeoutMs: 25_000, faultAtMs: 0 }),

  async inject(injection) {
    const { topology, node, proxies, atMs, traits, target } = injection;
    if (!topology) throw new FaultMissed("the run has no topology");
    const across = linksAcross(proxies, { node: node.name, isolated: topology.address(ZK_ISOLATED) });
    await using view = openLockView(
      traits,
      resourceOf(target),
      MAJORITY.map((member) => topology.address(member)).join(","),
    );
    await view.owner(); // Connects, so that the next reading takes milliseconds.
    // Before the first purchase: each client then opens its session with a server on its side of the partition.
    await Promise.all(across.map(({ proxy }) => proxy.stop()));
    try {
      const index = await node.armStop({ point: "in-work", atMs, durationMs: WORK_MS });
      const holder = await untilWorking(injection, index);
      const held = await view.owner();
      if (held === null) throw new FaultMissed("the lock had no entry although a buyer held it");
      if (!(await servesSession(topology, ZK_ISOLATED, held.owner))) {
        throw new FaultMissed(`${ZK_ISOLATED} did not have the holder's session 0x${held.owner}`);
      }
      const before = await ensembleStates(topology);
      const { fromNs, toNs, silentNs, next, during } = await separate(topology, view, held);
      const after = (ns: bigint) => durationText(elapsedMs(fromNs, ns));
      const proof = `${node.name} and ${ZK_ISOLATED} were separated from ${MAJORITY.join(" and ")} for ${after(toNs)} while ${holderText(holder)} held the lock through session 0x${held.owner} on ${ZK_ISOLATED}. ${ZK_ISOLATED} stopped serving clients after ${after(silentNs)}; the others gave the lock to session 0x${next.owner} after ${after(next.atNs)}. Before: ${statesText(before)}. At the end: ${statesText(during)}.`;
      return { fromNs, toNs, proof };
    } finally {
      await Promise.all(across.map(({ proxy }) => proxy.start()));
    }
  },

  whyUnproven: (history, { fromNs, toNs }) => whyNotHeld(history, fromNs) ?? whyNotOutlasted(history, { fromNs, toNs }),
};

/** The proxies between a node of one side and a server of the other. */
export function linksAcross(
  proxies: readonly ServerProxy[],
  minority: { readonly node: string; readonly isolated: string },
): readonly ServerProxy[] {
  return proxies.filter(({ node, proxy }) => (node === minority.node) !== (proxy.upstream === minority.isolated));
}

interface Next extends LockOwner {
  readonly atNs: bigint;
}

/** Separates the servers until the majority has given the lock to another session. @throws FaultMissed if that takes too long */
async function separate(topology: TopologyLease, view: LockView, held: LockOwner) {
  const fromNs = nowNs();
  try {
    await Promise.all(ZK_LINKS.map((link) => topology.silence(link, DEADLINE_MS)));
    const silentNs = await untilSilent(topology);
    const next = await untilNextOwner(view, held);
    const during = await ensembleStates(topology);
    return { fromNs, silentNs, next, during, toNs: nowNs() };
  } finally {
    await Promise.all(ZK_LINKS.map((link) => topology.restore(link)));
  }
}

function untilSilent(topology: TopologyLease): Promise<bigint> {
  const look = async () => {
    const [state] = await ensembleStates(topology, [ZK_ISOLATED]);
    return state?.mode === null ? nowNs() : undefined;
  };
  return untilKnown(look, { failure: `${ZK_ISOLATED} did not stop serving clients`, limitMs: STEP_LIMIT_MS });
}

function untilNextOwner(view: LockView, held: LockOwner): Promise<Next> {
  const look = async () => {
    // The view has no connection during an election.
    const now = await view.owner().catch(() => null);
    return now === null || now.owner === held.owner ? undefined : { ...now, atNs: nowNs() };
  };
  const failure = `the majority did not give the lock of session 0x${held.owner} to another session`;
  return untilKnown(look, { failure, limitMs: STEP_LIMIT_MS });
}

/** Why a history does not show that the lock was granted again while its first holder still worked; null if it does. */
function whyNotOutlasted({ ops }: History, { fromNs, toNs }: Pick<FaultEvent, "fromNs" | "toNs">): string | null {
  const at = (reading: bigint, { clock }: Operation) => Number(reading - clock.originNs);
  const grants = ops.flatMap((op) => {
    const { grantedNs = 0, clock } = op;
    const isDuring = grantedNs > at(fromNs, op) && grantedNs < at(toNs, op);
    return isDuring ? [BigInt(grantedNs) + clock.originNs] : [];
  });
  const isOutlasted = ops.some((op) => {
    const { grantedNs = Infinity, answeredNs = Infinity } = op;
    return grantedNs < at(fromNs, op) && grants.some((grant) => at(grant, op) < answeredNs);
  });
  return isOutlasted ? null : "no purchase got the lock during the partition while the holder still worked";
}
