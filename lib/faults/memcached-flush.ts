import { setTimeout as delay } from "node:timers/promises";
import { serverKind } from "../../servers/all-servers";
import { endpointsOf } from "../../servers/server-kind";
import { askText } from "../../servers/text-protocol";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { counterKey } from "../stock/memcached-counter";
import { resourceOf } from "../stock/types";
import { type Fault, FaultMissed, type Injection } from "./fault";
import { arrivals, crowd } from "./matrix-sale";
import { restartExpectation } from "./server-restart";

/** Short compared with a hold, so that one of the flushes comes soon after a hold has begun. */
const FLUSH_EVERY_MS = 10;
const DURATION_MS = 1_000;
const ANSWER_LIMIT_MS = 2_000;

/** Deletes all items while a buyer holds the lock: a lock or a stock counter that is a Memcached item disappears. */
export const memcachedFlush: Fault = {
  id: "memcached-flush",
  does: "Empties Memcached (flush_all) every 10 ms while a buyer holds the lock there, or while it holds the stock counter.",
  proof:
    "the lock or the stock counter, read immediately before and after a flush on one connection: present, then gone",
  defaultDurationMs: () => DURATION_MS,

  whyNotApplicable({ traits }) {
    return traits.needs.includes("memcached") ? null : "it keeps nothing in Memcached";
  },

  whyUnavailable() {
    if (env().FAULTS_MAY_EMPTY.includes("memcached")) return null;
    return "the lab did not start this Memcached; start the lab with FAULTS_MAY_EMPTY=memcached to let it empty this one";
  },

  expectationOf: ({ traits }) => restartExpectation(traits),

  // A lock: the buyer beside the holder needs time to read the stock. A counter: it is gone while buyers still arrive.
  matrixSale: (traits) =>
    traits.kind === "lock"
      ? crowd(traits, { stock: 20, vus: 40, holdMs: 80 })
      : arrivals(traits, { faultAtMs: 200, durationMs: 1_000 }),

  async inject(injection) {
    const url = env().MEMCACHED_URL ?? "";
    await injection.untilDue();
    const losses = await flushRepeatedly(injection, url);
    const [first] = losses;
    const last = losses.at(-1);
    if (!first || !last) throw new FaultMissed(`Memcached had no item ${keyOf(injection)} at any flush`);
    const item =
      injection.traits.kind === "lock" ? `the lock held by ${first.lost}` : `the stock counter at ${first.lost} units`;
    const proof = `flush_all deleted ${item}; flushes that deleted an item: ${losses.length}.`;
    return { fromNs: first.fromNs, toNs: last.toNs, proof };
  },
};

/** A flush that deleted the strategy's item. */
interface Loss {
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly lost: string;
}

async function flushRepeatedly(injection: Injection, url: string): Promise<Loss[]> {
  const { durationMs, closing } = injection;
  const key = keyOf(injection);
  const losses: Loss[] = [];
  const beganNs = nowNs();
  while (elapsedMs(beganNs) < durationMs && !closing.aborted) {
    const fromNs = nowNs();
    const { before, after } = await flushBetweenReads(url, key);
    // Another buyer may take the lock between the flush and the second read.
    if (before !== null && after !== before) losses.push({ fromNs, toNs: nowNs(), lost: before });
    await delay(FLUSH_EVERY_MS);
  }
  return losses;
}

/** The item that the strategy depends on. */
function keyOf({ traits, target }: Injection): string {
  return traits.kind === "lock" ? resourceOf(target) : counterKey(target);
}

interface Values {
  readonly before: string | null;
  readonly after: string | null;
}

/** Sends read, flush and read in one message on one connection: the server executes them in this order. */
async function flushBetweenReads(url: string, key: string): Promise<Values> {
  const [server] = endpointsOf(serverKind("memcached"), url);
  if (!server) throw new FaultMissed(`"${url}" is not the address of a Memcached`);
  const read = `get ${key}\r\n`;
  const answer = await askText({
    ...server,
    send: `${read}flush_all\r\n${read}`,
    timeoutMs: ANSWER_LIMIT_MS,
    isWhole: (text) => ANSWER.test(text),
  });
  const { before = null, after = null } = ANSWER.exec(answer)?.groups ?? {};
  return { before, after };
}

const ITEM = (name: string) => `(?:VALUE \\S+ \\d+ \\d+\\r\\n(?<${name}>[^\\r]*)\\r\\n)?END\\r\\n`;
const ANSWER = new RegExp(`^${ITEM("before")}OK\\r\\n${ITEM("after")}$`);
