import { env } from "../services/current-env";
import { processSingleton } from "../services/singleton";
import { SESSION_COOKIE, sameSecret, sessionValue } from "./access";
import { json, type WholeAnswer } from "./answer";
import { BuyerLimits } from "./buyer-limits";
import { HttpError } from "./errors";

/** Exchanges the admin token for the session cookie. @throws HttpError `rate_limited`, `admin_token_wrong` */
export function logIn(token: string): WholeAnswer {
  limitAttempts();
  const expected = env().LAB_ADMIN_TOKEN;
  if (expected === undefined) return json({ loggedIn: true });
  if (!sameSecret(token, expected)) throw new HttpError({ code: "admin_token_wrong", details: { field: "token" } });
  const cookie = `${SESSION_COOKIE}=${sessionValue(expected)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=28800`;
  return json({ loggedIn: true }, { headers: { "set-cookie": cookie } });
}

/** Slows down guessing: ten attempts at once, then one per second, for all clients together. */
function limitAttempts(): void {
  const limits = processSingleton(
    "session-tries",
    () => new BuyerLimits({ ratePerSecond: 1, burst: 10, maxBuyers: 1 }),
  );
  const waitMs = limits.take("session", performance.now());
  if (waitMs === 0) return;
  throw new HttpError({
    code: "rate_limited",
    message: "Too many login attempts. Retry after a second.",
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  });
}
