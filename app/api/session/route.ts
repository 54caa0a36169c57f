import { z } from "zod";
import { refuseCrossSite, SESSION_COOKIE, sameSecret, sessionValue } from "@/lib/http/admin-guard";
import { apiRoute, originOf, readJson } from "@/lib/http/api-route";
import { HttpError } from "@/lib/http/errors";
import { env } from "@/lib/services/current-env";

export const dynamic = "force-dynamic";

const bodySchema = z.strictObject({ token: z.string().min(1).max(500) });

/** Logs the dashboard in: the admin token for a cookie that scripts cannot read. */
export const POST = (request: Request) =>
  apiRoute(async () => {
    refuseCrossSite(originOf(request));
    const { token } = await readJson(request, bodySchema);
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
