import { isIPv4, isIPv6 } from "node:net";
import { processSingleton } from "../services/singleton";
import { BuyerLimits } from "./buyer-limits";
import { HttpError } from "./errors";

/**
 * Slows down guessing of the admin token: ten wrong tokens at once, then one per second, for each address. Beyond that the
 * address's tokens are not compared. Other addresses are not affected.
 */
const LIMIT = { ratePerSecond: 1, burst: 10, maxBuyers: 10_000 };

function guesses(): BuyerLimits {
  return processSingleton("token-guesses", () => new BuyerLimits(LIMIT));
}

/**
 * Compares a token unless its sender has guessed too often.
 * @returns true if it is right
 * @throws HttpError `rate_limited`
 */
export function checkGuess(address: string, isRight: () => boolean): boolean {
  const bucket = networkOf(address);
  const waitMs = guesses().take(bucket, performance.now());
  if (waitMs > 0) {
    throw new HttpError({
      code: "rate_limited",
      message: "Too many wrong admin tokens came from this address. Retry after a second.",
      retryAfterSeconds: Math.ceil(waitMs / 1_000),
    });
  }
  if (!isRight()) return false;
  guesses().giveBack(bucket);
  return true;
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
