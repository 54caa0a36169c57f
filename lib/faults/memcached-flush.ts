import { setTimeout as delay } from "node:timers/promises";
import { serverKind } from "../../servers/all-servers";
import { endpointsOf } from "../../servers/server-kind";
import { askText } from "../../servers/text-protocol";
import { env } from "../services/current-env";
import { elapsedMs, nowNs } from "../services/monotonic";
import { counterKey } from "../stock/memcached-counter";
import { resourceOf } from "../stock/types";
import { type Fault, FaultMissed, type Injection } from "./fault";

/** Short beside any hold worth flushing under: one of many flushes meets a hold that has just begun. */
const FLUSH_EVERY_MS = 10;
const LASTS_MS = 1_000;
const ANSWER_LIMIT_MS = 2_000;

/**
 * The cache forgets everything while somebody holds: a lock that is an item is gone without a word, and so is a stock that
 * is one.
 */
export const memcachedFlush: Fault = {
  id: "memcached-flush",
  does: "Empties Memcached (flush_all) again and again, while somebody holds the lock there or the stock is counted there.",
  proof: "the lock's or the stock's item was there right before a flush and gone right after, asked in one message",
  defaultDurationMs: () => LASTS_MS,

  reasonAgainst({ traits }) {
    return traits.needs.includes("memcached") ? null : "it keeps nothing in Memcached";
  },

  reasonHere() {
    if (env().FAULTS_MAY_EMPTY.includes("memcached")) return null;
    return "the lab did not start this Memcached; FAULTS_MAY_EMPTY=memcached allows it to be emptied";
  },

  expectedEffectOf({ traits }) {
    const fates = { breaks: "breaks", blocks: "stops", survives: "holds", "not-applicable": "holds" } as const;
    return fates[traits.survives.serverRestart];
  },

  async inject(injection) {
    const url = env().MEMCACHED_URL ?? "";
    await injection.untilDue();
    const flushes = await flushAgainAndAgain(injection, url);
    const [first] = flushes;
    const last = flushes.at(-1);
    if (!first || !last) throw new FaultMissed(`nothing was under ${keyOf(injection)} at any flush`);
    const what =
      injection.traits.kind === "lock" ? `the lock, held by ${first.lost},` : `the stock, ${first.lost} units,`;
    const proof = `Memcached was emptied: ${what} was there before flush_all and gone after it; such flushes: ${flushes.length}.`;
    return { fromNs: first.fromNs, toNs: last.toNs, proof };
  },
};

/** A flush that found something. */
interface Loss {
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly lost: string;
}

async function flushAgainAndAgain(injection: Injection, url: string): Promise<Loss[]> {
  const { durationMs, closing } = injection;
  const key = keyOf(injection);
  const losses: Loss[] = [];
  const beganNs = nowNs();
  while (elapsedMs(beganNs) < durationMs && !closing.aborted) {
    const fromNs = nowNs();
    const { before, after } = await flushBetweenReads(url, key);
    // Somebody else may have got the lock between the flush and the second look.
    if (before !== null && after !== before) losses.push({ fromNs, toNs: nowNs(), lost: before });
    await delay(FLUSH_EVERY_MS);
  }
  return losses;
}

/** What the strategy would lose. */
function keyOf({ traits, target }: Injection): string {
  return traits.kind === "lock" ? resourceOf(target) : counterKey(target);
}

interface Values {
  readonly before: string | null;
  readonly after: string | null;
}

/** In one message on one connection, which the server works off in order. */
async function flushBetweenReads(url: string, key: string): Promise<Values> {
  const [server] = endpointsOf(serverKind("memcached"), url);
  if (!server) throw new FaultMissed(`"${url}" is no address of a Memcached`);
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
