import { createHash, timingSafeEqual } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import { processSingleton } from "../services/singleton";
import { BuyerLimits } from "./buyer-limits";
import { HttpError } from "./errors";

/**
 * Slows down guessing of the admin token: ten different wrong tokens at once, then one per second, for each address. Beyond
 * that no token of the address is compared, not even the right one: an address that always learned at once whether a token is
 * right could guess without limit. Other addresses and open sessions are not affected. A wrong token that an address repeats
 * counts once, because it tells a guesser nothing new: a client with an old token blocks nothing.
 */
const LIMIT = { ratePerSecond: 1, burst: 10, maxBuyers: 10_000 };
const MAX_REMEMBERED = 10_000;

interface Guesses {
  readonly limits: BuyerLimits;
  /** Address and digest of wrong tokens that were counted, oldest first. */
  readonly counted: Set<string>;
}

function guesses(): Guesses {
  return processSingleton("token-guesses", () => ({ limits: new BuyerLimits(LIMIT), counted: new Set<string>() }));
}

export interface Guess {
  readonly given: string;
  readonly expected: string;
  /** Of the client. */
  readonly address: string;
}

/**
 * Compares a token unless its sender has guessed too often.
 * @returns true if it is right
 * @throws HttpError `rate_limited`
 */
export function isRightToken({ given, expected, address }: Guess): boolean {
  const bucket = networkOf(address);
  const digest = digestOf(given);
  const { limits, counted } = guesses();
  const guess = `${bucket} ${digest.toString("base64")}`;
  if (counted.has(guess)) return false;
  const waitMs = limits.take(bucket, performance.now());
  if (waitMs > 0) throw tooManyGuesses(waitMs);
  // In constant time, also for tokens of different lengths.
  if (!timingSafeEqual(digest, digestOf(expected))) {
    remember(counted, guess);
    return false;
  }
  limits.giveBack(bucket);
  return true;
}

function remember(counted: Set<string>, guess: string): void {
  const [oldest] = counted;
  if (oldest !== undefined && counted.size >= MAX_REMEMBERED) counted.delete(oldest);
  counted.add(guess);
}

function tooManyGuesses(waitMs: number): HttpError {
  return new HttpError({
    code: "rate_limited",
    message: "Too many wrong admin tokens came from this address. Retry after a second.",
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  });
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** An IPv6 client owns the addresses of its /64 network. */
function networkOf(address: string): string {
  const mapped = address.replace(/^::ffff:/i, "");
  if (isIPv4(mapped) || !isIPv6(address)) return mapped;
  const [head = "", tail] = address.split("::", 2);
  const groups = head.split(":").filter(Boolean);
  const last = tail?.split(":").filter(Boolean) ?? [];
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - last.length) }, () => "0");
  return [...groups, ...(tail === undefined ? [] : zeros), ...last].slice(0, 4).join(":");
}
