import { setTimeout as delay } from "node:timers/promises";
import type { RedisSession } from "../locks/redis/redis-port";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { settingText } from "../services/number-text";
import { type Expectation, type Fault, type FaultContext, type FaultEvent, FaultMissed, type Injection } from "./fault";
import { whyNoProxies } from "./network-fault";
import { lockKeyOf, withRedis } from "./redis-admin";
import { whyNoHoldCovers } from "./server-restart";
import { MASTER, REPLICA_LINKS, REPLICAS, SENTINEL_NAME, SENTINELS } from "./topologies/sentinel-names";
import type { TopologyLease } from "./topologies/topology-lease";
import { whyNoTopology } from "./topologies/topology-lease";

/** What the faults have in common in which Sentinels promote a replica without the lock. */

const POLL_MS = 5;
/** The holder must still work when the replica has been promoted. */
const FRESH_MS = 500;
const WAIT_MS = 50;
/** Two failed elections are possible within it. */
const PROMOTION_LIMIT_MS = 25_000;
/** After a failed election, Sentinels wait for twice this time before the next one. */
const ELECTION_TIMEOUT_MS = 4_000;
/** A promotion takes two to four seconds. A shorter lease ends before it. */
const SHORTEST_LEASE_MS = 5_000;

/** The replica with the highest priority, which the Sentinels promote. */
const [PROMOTED] = REPLICAS;

/**
 * A failover to a replica whose link to the master is cut.
 * @param cut replicas whose link is cut: the first of them, which the Sentinels promote, or all
 */
export function failoverWithout(cut: 1 | 2): Omit<Fault, "id" | "does" | "proof"> {
  const acknowledging = REPLICAS.length - cut;
  return {
    topology: "sentinel",
    defaultDurationMs: () => null,

    whyNotApplicable({ traits, ttlMs }) {
      if (!traits.needs.includes("redis")) return "it keeps nothing in one Redis server";
      if (traits.kind === "atomic") return "it counts the stock in the lab's own Redis, which has no replica";
      const hasLease = traits.expiryClock === "server" || traits.expiryClock === "client";
      if (!hasLease || ttlMs >= SHORTEST_LEASE_MS) return null;
      return `a lease of ${settingText(ttlMs)} ends before the replica is promoted; choose a lease of at least ${settingText(SHORTEST_LEASE_MS)}`;
    },
    whyUnavailable: () => whyNoTopology() ?? whyNoProxies(env().STORE_NODES),

    expectationOf: ({ traits }: FaultContext) => expectationOf(traits.replicasToWaitFor ?? 0, acknowledging),
    matrixSale: () => ({
      stock: 20,
      rate: 1,
      durationMs: 6_000,
      holdMs: 6_000,
      ttlMs: 20_000,
      waitTimeoutMs: 12_000,
      faultAtMs: 0,
    }),

    inject: (injection) => failOver(injection, cut),

    whyUnproven(history, event, { traits }) {
      // Without enough replicas, no lock is granted, so there is no holder to look for.
      return (traits.replicasToWaitFor ?? 0) > acknowledging ? null : whyNoHoldCovers(history, event);
    },
  };
}

function expectationOf(replicasToWaitFor: number, acknowledging: number): Expectation {
  if (replicasToWaitFor > acknowledging) {
    return {
      effect: "safe",
      reason:
        "WAIT refuses a lock that too few replicas have, so the promoted replica knows every lock that was granted.",
    };
  }
  if (replicasToWaitFor > 0) {
    return {
      effect: "unsafe",
      reason:
        "WAIT is satisfied by the replica that has the lock, and the Sentinels promote the one without it, which grants the lock again.",
    };
  }
  return {
    effect: "unsafe",
    reason:
      "Redis answers before its replica has the lock, so the promoted replica grants the lock again beside the holder.",
  };
}

async function failOver(injection: Injection, cut: 1 | 2): Promise<FaultEvent> {
  const { topology } = injection;
  if (!topology) throw new FaultMissed("the run has no topology");
  // Before the load: a lock that was free then cannot be on these replicas.
  for (const replica of REPLICAS.slice(0, cut)) await topology.cut(REPLICA_LINKS[replica]);
  const key = lockKeyOf(injection.traits, injection.target);
  const acknowledged = await withRedis(topology.address(MASTER), async (master) => {
    await untilFreshHold(master, key, injection);
    return acknowledgedBy(master, REPLICAS.length - cut);
  });
  const isOnReplica = await withRedis(topology.address(PROMOTED), (replica) => replica.call("EXISTS", key));
  if (Number(isOnReplica) === 1) throw new FaultMissed(`the replica had the key ${key} although its link was cut`);
  const fromNs = nowNs();
  await topology.kill(MASTER);
  await hurryElections(topology);
  await untilPromoted(topology);
  const toNs = nowNs();
  await replaceReplica(topology);
  const tookMs = Math.round(elapsedMs(fromNs, toNs));
  const proof = `The master had the key ${key}, the replica ${PROMOTED} did not, and WAIT reported ${acknowledged} of ${REPLICAS.length} replicas; the master was killed, and the Sentinels promoted ${PROMOTED} ${tookMs} ms later.`;
  return { fromNs, toNs, proof };
}

/** Waits until the fault is due and the lock has been held for a short time only. @throws FaultMissed if the load ends before */
async function untilFreshHold(master: RedisSession, key: string, { untilDue, closing }: Injection): Promise<void> {
  let due: boolean | Error = false;
  untilDue().then(
    () => {
      due = true;
    },
    (error: Error) => {
      due = error;
    },
  );
  const isDue = (): boolean => {
    if (due instanceof Error) throw due;
    return due;
  };
  let held: { readonly value: string; readonly sinceNs: bigint } | null = null;
  while (!closing.aborted) {
    // DUMP: the lock is a string or a hash.
    const value = await master.call("DUMP", key);
    if (value === null) held = null;
    else if (held?.value !== String(value)) held = { value: String(value), sinceNs: nowNs() };
    if (isDue() && held && elapsedMs(held.sinceNs) < FRESH_MS) return;
    await delay(POLL_MS);
  }
  throw new FaultMissed(`the load ended before the master had the key ${key}`);
}

/** The replicas that confirm a write of this connection. @throws FaultMissed if they are not as many as expected */
async function acknowledgedBy(master: RedisSession, expected: number): Promise<number> {
  await master.call("SET", "redis-failover:probe", "1", "PX", 1_000);
  const replicas = Number(await master.call("WAIT", REPLICAS.length, WAIT_MS));
  if (replicas === expected) return replicas;
  throw new FaultMissed(`${replicas} replicas confirmed a write, and the cut links leave ${expected}`);
}

/** The Sentinels' own timeout is long, so that they leave the replica's link alone while the master runs. */
async function hurryElections(topology: TopologyLease): Promise<void> {
  await Promise.all(
    SENTINELS.map((name) =>
      withRedis(topology.address(name), (sentinel) =>
        sentinel.call("SENTINEL", "SET", SENTINEL_NAME, "failover-timeout", ELECTION_TIMEOUT_MS),
      ),
    ),
  );
}

async function untilPromoted(topology: TopologyLease): Promise<void> {
  await untilAnswer(topology.address(PROMOTED), ["ROLE"], (role) => role[0] === "master");
}

/** Waits until the Sentinel gives its clients the address of the new master. */
async function untilNamed(sentinel: string, port: string): Promise<void> {
  await untilAnswer(sentinel, ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", SENTINEL_NAME], (address) => address[1] === port);
}

/** @throws FaultMissed if no such answer comes in time */
async function untilAnswer(
  url: string,
  [command = "", ...parameters]: readonly string[],
  isExpected: (answer: readonly unknown[]) => boolean,
): Promise<void> {
  const beganNs = nowNs();
  while (elapsedMs(beganNs) < PROMOTION_LIMIT_MS) {
    // A Sentinel closes the connections of a replica that it promotes.
    const answer = await withRedis(url, (redis) => redis.call(command, ...parameters)).catch(() => null);
    if (Array.isArray(answer) && isExpected(answer)) return;
    await delay(POLL_MS);
  }
  throw new FaultMissed(`the Sentinels did not promote the replica within ${PROMOTION_LIMIT_MS / 1_000} s`);
}

/**
 * Starts the killed master again as a replica of the new one, so that WAIT can succeed again. Before that, every Sentinel must
 * name the new master: a client that got the old address would stay connected to a replica, which refuses writes.
 */
async function replaceReplica(topology: TopologyLease): Promise<void> {
  const { hostname, port } = new URL(topology.address(PROMOTED));
  await Promise.all(SENTINELS.map((name) => untilNamed(topology.address(name), port)));
  await topology.revive(MASTER);
  await withRedis(topology.address(MASTER), (former) => former.call("REPLICAOF", hostname, port));
}
