import { refuseCrossSite, SESSION_COOKIE, sameSecret, sessionValue } from "@/lib/http/admin-guard";
import { apiRoute, originOf, readJson } from "@/lib/http/api-route";
import { BuyerLimits } from "@/lib/http/buyer-limits";
import { HttpError } from "@/lib/http/errors";
import { sessionRequestSchema } from "@/lib/http/routes/requests";
import { env } from "@/lib/services/current-env";
import { processSingleton } from "@/lib/services/singleton";

export const dynamic = "force-dynamic";

/** Logs the dashboard in: the admin token for a cookie that scripts cannot read. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    refuseCrossSite(originOf(request));
    slowDown();
    const { token } = await readJson(request, sessionRequestSchema);
    const expected = env().LAB_ADMIN_TOKEN;
    if (expected === undefined) return { loggedIn: true };
    if (!sameSecret(token, expected)) {
      throw new HttpError({
        status: 401,
        code: "admin_token_wrong",
        message: "token: that is not the admin token.",
        details: { field: "token" },
      });
    }
    const cookie = `${SESSION_COOKIE}=${sessionValue(expected)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=28800`;
    return Response.json({ loggedIn: true }, { headers: { "set-cookie": cookie, "cache-control": "no-store" } });
  });

/** Guessing takes time: ten tries at once, then one a second, for all that try together. */
function slowDown(): void {
  const limits = processSingleton(
    "session-tries",
    () => new BuyerLimits({ ratePerSecond: 1, burst: 10, maxBuyers: 1 }),
  );
  const waitMs = limits.take("session", performance.now());
  if (waitMs === 0) return;
  throw new HttpError({
    status: 429,
    code: "rate_limited",
    message: "Too many tries at the admin token; wait a second.",
    headers: { "retry-after": String(Math.ceil(waitMs / 1_000)) },
  });
}
