import { setTimeout as delay } from "node:timers/promises";
import { LONGEST_PAUSE_MS } from "../node/node-stops";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText } from "../services/number-text";
import { resourceOf } from "../stock/types";
import { type Fault, type FaultEvent, FaultMissed, type Injection } from "./fault";
import { hasLockView, type LockOwner, type LockView, openLockView } from "./lock-owner";
import { crowd } from "./matrix-sale";
import { serversOf, whyNoProxies, withToxics } from "./network-fault";
import { orphanedLockMs } from "./orphaned-lock";
import { waitedBetween } from "./waited-for-lock";
import { holderText, untilWorkEnds, untilWorking } from "./working-holder";

const POLL_MS = 50;
/** Beyond the session or lease: time for another buyer to get the lock while the holder is still cut off. */
const MARGIN_MS = 1_000;
/** Work after the link heals: time for the client to connect again before it looks whether it still holds the lock. */
const RECONNECT_MS = 1_500;

const swallow = withToxics(
  { type: "timeout", stream: "upstream", attributes: { timeout: 0 } },
  { type: "timeout", stream: "downstream", attributes: { timeout: 0 } },
);

/**
 * Cuts the node of a working holder off from the server of its lock, until the server has given the lock up. A client that
 * trusts its session only while the server answers detects the loss before that, and writes nothing.
 */
export const sessionExpiry: Fault = {
  id: "session-expiry",
  does: "Cuts the node of a working holder off from ZooKeeper or etcd until its session or lease has expired, then lets it connect again before its write.",
  proof:
    "the session or lease that owned the lock's entry when the cut began; the entry was gone before the cut ended, which a node that is cut off cannot do; another purchase waited for the lock",

  defaultDurationMs: ({ traits, ttlMs }) =>
    Math.min(LONGEST_PAUSE_MS - RECONNECT_MS, orphanedLockMs(traits, ttlMs) + MARGIN_MS),
  proxiedServers: ({ traits }) => serversOf(traits).filter((server) => server !== "postgres"),

  whyNotApplicable({ traits, nodes }) {
    if (!hasLockView(traits)) return "it holds no lock through a session of ZooKeeper or a lease of etcd";
    return nodes < 2 ? "it needs a second store node that sells while one is cut off" : null;
  },
  whyUnavailable: () => whyNoProxies(env().STORE_NODES),

  expectationOf: () => ({
    effect: "safe",
    reason:
      "The client counts its session or lease from the last request that was answered, so it stops relying on the lock before the server gives it up.",
  }),
  matrixSale: (traits) => crowd(traits, { waitTimeoutMs: 25_000, faultAtMs: 0 }),

  async inject(injection) {
    const { node, atMs, durationMs, traits, target } = injection;
    const workMs = Math.min(LONGEST_PAUSE_MS, durationMs + RECONNECT_MS);
    // Armed before the first purchase: on a busy machine, a short sale would be over first.
    const index = await node.armStop({ point: "in-work", atMs, durationMs: workMs });
    const holder = await untilWorking(injection, index);
    await using view = openLockView(traits, resourceOf(target));
    const before = await view.owner();
    if (before === null) throw new FaultMissed("the lock had no entry although a buyer held it");
    const { fromNs, toNs, goneNs } = await cutOff(injection, view, before);
    await untilWorkEnds(injection, index);
    const after = await view.owner();
    if (after?.owner === before.owner) throw new FaultMissed(`${before.owner} still holds the lock after the cut`);
    const proof = `${node.name} was cut off for ${durationText(elapsedMs(fromNs, toNs))} while ${holderText(holder)} held the lock; ${before.entry} of ${ownerText(traits, before)} was gone after ${durationText(elapsedMs(fromNs, goneNs))}.`;
    return { fromNs, toNs, proof };
  },

  whyUnproven({ ops }, { fromNs, toNs }) {
    if (ops.some((op) => waitedBetween(op, fromNs, toNs))) return null;
    return "no other purchase waited for the lock during the cut";
  },
};

function ownerText({ needs }: Injection["traits"], { owner }: LockOwner): string {
  return needs.includes("etcd") ? `lease ${owner}` : `session 0x${owner}`;
}

interface Cut extends Pick<FaultEvent, "fromNs" | "toNs"> {
  /** When the server had given up the lock. */
  readonly goneNs: bigint;
}

/** @throws FaultMissed if the server kept the lock for the whole cut */
async function cutOff({ node, proxies, durationMs }: Injection, view: LockView, before: LockOwner): Promise<Cut> {
  const fromNs = nowNs();
  const ofNode = proxies.filter((each) => each.node === node.name);
  const ends = await Promise.all(ofNode.map(({ proxy }) => swallow(proxy)));
  let goneNs: bigint | null = null;
  try {
    while (elapsedMs(fromNs) < durationMs) {
      const now = goneNs === null ? await view.owner() : null;
      if (now?.entry !== before.entry) goneNs ??= nowNs();
      await delay(POLL_MS);
    }
  } finally {
    await Promise.all(ends.map((end) => end()));
  }
  const toNs = nowNs();
  if (goneNs !== null) return { fromNs, toNs, goneNs };
  const cutMs = durationText(elapsedMs(fromNs, toNs));
  throw new FaultMissed(`the server kept ${before.entry} for the whole cut of ${cutMs}; choose a longer fault`);
}
