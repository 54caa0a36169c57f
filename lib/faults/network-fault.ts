import { setTimeout as delay } from "node:timers/promises";
import { type ServerId, serverKinds, servers } from "../../servers/all-servers";
import type { StrategyTraits } from "../locks/types";
import { env } from "../services/current-env";
import { nowNs } from "../services/monotonic";
import { keepsCounter } from "../stock/stock-strategies";
import { type Expectation, type Fault, type FaultContext, FaultMissed, type Injection } from "./fault";
import type { FaultId } from "./ids";
import { arrivals, type MatrixSale } from "./matrix-sale";
import { crashedLockMs, isExtendedByWaiters, whyExpiryIsChance } from "./orphaned-lock";
import { toxicKinds } from "./proxy/all-toxics";
import type { Attributes, Stream } from "./proxy/toxic";
import type { ServerProxy } from "./run-proxies";

/** A fault of the network between store nodes and the servers of the strategy, PostgreSQL included. */
export interface NetworkFault {
  readonly id: FaultId;
  readonly does: string;
  readonly proof: string;
  readonly durationMs: number;
  /** Absent: `durationMs`. */
  defaultDurationMs?(run: FaultContext): number;
  /** It only delays data: by at most this much per message. Absent: it ends connections. */
  readonly delayMs?: number;
  /** Absent: all servers of the strategy. */
  readonly servers?: readonly ServerId[];
  /** Why it was missed if it acted on no connection. */
  readonly unseen?: string;
  /** Absent: it applies to every strategy, or to every lease that is long enough for its delays. */
  whyNotApplicable?(run: FaultContext): string | null;
  /** Absent: what a lost or late message does to the strategy. */
  expectationOf?(run: FaultContext, durationMs: number): Expectation;
  /** Absent: chance decides only if it may end a holder between two commands. */
  whyNotInMatrix?(traits: StrategyTraits): string | null;
  /** Absent: buyers that arrive before, during and after it. */
  matrixSale?(traits: StrategyTraits): MatrixSale;
  /** The proxies to act on. Absent: all. */
  chosen?(proxies: readonly ServerProxy[]): readonly ServerProxy[];
  /** Applies it to one proxy. @returns how to end it, which reports what it did */
  apply(proxy: ServerProxy["proxy"], run: Pick<Injection, "ttlMs" | "traits">): Promise<() => Promise<NetworkEffect>>;
  /** Absent: what it did to the connections is proof enough. */
  readonly whyUnproven?: Fault["whyUnproven"];
}

/** What it did to one proxy, counted by the proxy. */
export interface NetworkEffect {
  readonly connections: number;
  readonly bytes: number;
  /** A clause for its proof. */
  readonly details?: string;
}

export interface ToxicOn {
  readonly type: string;
  readonly stream: Stream;
  readonly attributes: Attributes;
}

/** Adds toxics for the time of the fault. */
export function withToxics(
  ...toxics: readonly ToxicOn[]
): (proxy: ServerProxy["proxy"]) => ReturnType<NetworkFault["apply"]> {
  return async (proxy) => {
    const added = toxics.map(({ type, stream, attributes }) => {
      const kind = toxicKinds.get(type);
      if (!kind) throw new Error(`there is no toxic ${type}`);
      return proxy.addToxic({ name: `${type}_${stream}`, kind, stream, toxicity: 1, attributes });
    });
    return async () => {
      for (const toxic of added) proxy.removeToxic(toxic);
      const effects = added.map(({ effect }) => effect);
      return {
        // A connection has both streams.
        connections: Math.max(...effects.map(({ connections }) => connections)),
        bytes: effects.reduce((total, { bytes }) => total + bytes, 0),
      };
    };
  };
}

/** A delayed holder sends several messages per hold. With a shorter lease, the delay alone would outlast the lease. */
const MESSAGES_PER_LEASE = 10;

/** Builds a fault from what it does to a proxy. It ends at its deadline, or with the load. */
export function networkFault(network: NetworkFault): Fault {
  const { id, does, proof, durationMs, delayMs } = network;
  return {
    id,
    does,
    proof,
    defaultDurationMs: (run) => network.defaultDurationMs?.(run) ?? durationMs,
    proxiedServers: ({ traits }) => serversOf(traits).filter((server) => network.servers?.includes(server) ?? true),
    whyNotApplicable: (run) => network.whyNotApplicable?.(run) ?? whyLeaseTooShort(run, delayMs),
    whyUnavailable: () => whyNoProxies(env().STORE_NODES),
    whyNotInMatrix: (traits) =>
      network.whyNotInMatrix?.(traits) ?? (cutsOffLock(network) ? whyExpiryIsChance(traits) : null),
    expectationOf: (run, faultMs) => network.expectationOf?.(run, faultMs) ?? expectationOf(network, run.traits),
    matrixSale: (traits) => network.matrixSale?.(traits) ?? matrixSale(network, traits),
    inject: (injection) => inject(network, injection),
    ...(network.whyUnproven ? { whyUnproven: network.whyUnproven } : {}),
  };
}

const MATRIX_DELAY_MS = 1_000;
const MATRIX_CUT_MS = 500;
/**
 * For locks that never expire: longer than a holder tries to release its lock, so that the release is lost. The lease outlasts it
 * for `redis-getset`, whose waiters extend the lock when they poll again.
 */
const LOST_RELEASE = { faultMs: 3_000, ttlMs: 8_000, waitTimeoutMs: 8_000 };
/** A buyer holds the lock at almost every moment, and so when connections end. */
const BUSY_LOCK = { rate: 40, durationMs: 1_500, holdMs: 40 };

function matrixSale(network: NetworkFault, traits: StrategyTraits): MatrixSale {
  const { durationMs, delayMs } = network;
  const faultMs = Math.min(durationMs, delayMs === undefined ? MATRIX_CUT_MS : MATRIX_DELAY_MS);
  const isAboutHolders = delayMs === undefined && traits.kind === "lock";
  const sale = arrivals(traits, { ...(isAboutHolders ? BUSY_LOCK : {}), faultMs });
  // If the write failed too, its holder would keep the lock, and no message of the lock would be on the way.
  const lockServer = traits.needs.find((server) => server !== "postgres");
  const isAboutLock = isAboutHolders && network.servers === undefined && neverExpires(traits);
  return isAboutLock && lockServer !== undefined ? { ...sale, ...LOST_RELEASE, faultServer: lockServer } : sale;
}

/** Whether it may lose a message between the commands of a lock: it does more than delay, and on all servers of the strategy. */
function cutsOffLock({ delayMs, servers }: NetworkFault): boolean {
  return delayMs === undefined && servers === undefined;
}

function neverExpires(traits: StrategyTraits): boolean {
  return traits.kind === "lock" && crashedLockMs(traits, 0) === Infinity;
}

function expectationOf({ delayMs, servers }: NetworkFault, traits: StrategyTraits): Expectation {
  if (delayMs !== undefined) return { effect: "safe", reason: "It only makes purchases slower: no message is lost." };
  if (servers && traits.kind === "lock") return keptLockExpectation(traits);
  if (neverExpires(traits)) {
    return { effect: "blocked", reason: "The holder's release is lost, and nothing else frees its lock." };
  }
  return { effect: "safe", reason: cutOffReason(traits) };
}

function cutOffReason(traits: StrategyTraits): string {
  if (traits.kind === "lock")
    return "A holder that cannot reach its lock in time does not write, and a lock without a holder becomes free again.";
  if (keepsCounter(traits))
    return "PostgreSQL stores the whole order or nothing of it, and the journal names the units to return to the counter.";
  return "PostgreSQL stores the whole write or nothing of it, and its buyer gets an error or no outcome.";
}

/** The lock's server answers, but the outcome of a holder's write is unknown: the holder keeps its lock until the lease ends. */
export function keptLockExpectation(traits: StrategyTraits): Expectation {
  if (traits.family === "sql")
    return { effect: "safe", reason: "The lock and the write belong to one connection, so both end with it." };
  const kept = "The write may still take effect, so its holder does not release the lock";
  if (isExtendedByWaiters(traits)) {
    return { effect: "blocked", reason: `${kept}, and each poll of a waiter extends it.` };
  }
  return { effect: "safe", reason: `${kept} before the lease has ended.` };
}

/** All strategies sell through PostgreSQL. */
export function serversOf({ needs }: Pick<StrategyTraits, "needs">): readonly ServerId[] {
  return Object.values(servers).flatMap(({ id }) => (id === "postgres" || needs.includes(id) ? [id] : []));
}

function whyLeaseTooShort({ traits, ttlMs }: FaultContext, delayMs: number | undefined): string | null {
  if (delayMs === undefined) return null;
  const shortestMs = MESSAGES_PER_LEASE * delayMs;
  const hasLease = traits.expiryClock === "server" || traits.expiryClock === "client";
  if (!hasLease || ttlMs >= shortestMs) return null;
  return `its delays could take longer than a lease of ${ttlMs} ms; choose a lease of at least ${shortestMs} ms`;
}

/** The nodes reach the proxies over the loopback address of this host. */
export function whyNoProxies(nodes: readonly { readonly name: string; readonly url: string }[]): string | null {
  const remote = nodes.find(({ url }) => !LOOPBACK.test(new URL(url).hostname));
  if (!remote) return null;
  return `${remote.name} (${remote.url}) runs on another host, and the lab's proxies listen on this one only`;
}

/** The proxies of the first node, for faults of one node. */
export function ofOneNode(proxies: readonly ServerProxy[]): readonly ServerProxy[] {
  return proxies.filter(({ node }) => node === proxies[0]?.node);
}

const LOOPBACK = /^(localhost|127\..*|\[::1\])$/;

async function inject(network: NetworkFault, injection: Injection) {
  const { proxies, durationMs, untilDue, closing } = injection;
  await untilDue();
  const fromNs = nowNs();
  const applied: { readonly on: ServerProxy; readonly end: () => Promise<NetworkEffect> }[] = [];
  let effects: { readonly on: ServerProxy; readonly effect: NetworkEffect }[] = [];
  try {
    for (const on of network.chosen?.(proxies) ?? proxies) {
      applied.push({ on, end: await network.apply(on.proxy, injection) });
    }
    await delay(durationMs, undefined, { signal: closing }).catch(() => {});
  } finally {
    effects = await Promise.all(applied.map(async ({ on, end }) => ({ on, effect: await end() })));
  }
  const toNs = nowNs();
  const seen = effects.filter(({ effect }) => effect.connections > 0);
  if (seen.length === 0)
    throw new FaultMissed(network.unseen ?? "no connection of the run's nodes was in use while it lasted");
  const details = seen.flatMap(({ effect }) => effect.details ?? []).join("; ");
  return { fromNs, toNs, proof: `${network.id} acted on ${listOf(seen)}${details === "" ? "" : `: ${details}`}.` };
}

/** `4 connections to PostgreSQL (1200 bytes) and 1 connection to Redis (80 bytes) of node-1 and node-2` */
function listOf(seen: readonly { readonly on: ServerProxy; readonly effect: NetworkEffect }[]): string {
  const parts = serverKinds.flatMap(({ id, label }) => {
    const effects = seen.filter(({ on }) => on.server === id).map(({ effect }) => effect);
    const sum = (field: "connections" | "bytes") => effects.reduce((total, effect) => total + effect[field], 0);
    const connections = sum("connections");
    const noun = connections === 1 ? "connection" : "connections";
    return connections === 0 ? [] : [`${connections} ${noun} to ${label} (${sum("bytes")} bytes)`];
  });
  const nodes = [...new Set(seen.map(({ on }) => on.node))];
  return `${parts.join(" and ")} of ${nodes.join(" and ")}`;
}
