import type { IncomingHttpHeaders } from "node:http";
import { isOpenSession } from "../services/admin-sessions";
import { env } from "../services/current-env";
import { HttpError } from "./errors";
import { headerOf, type RawRequest } from "./raw-request";
import type { Route } from "./route";
import { isRightToken } from "./token-guesses";

/** Name of the dashboard's session cookie. */
export const SESSION_COOKIE = "lab_session";

/**
 * Rejects a request that may not use a route of this access.
 * @returns undefined at once if no session has to be looked up
 * @throws HttpError `cross_site`, `admin_token_required`, `rate_limited`
 */
export function guardAccess(access: Route["access"], raw: RawRequest): Promise<void> | undefined {
  if (access === "anyone") return undefined;
  requireSameSite(raw.headers);
  return access === "admin" ? requireAdmin(raw) : undefined;
}

function requireSameSite(headers: IncomingHttpHeaders): void {
  const { host, origin } = headers;
  const fetchSite = headerOf(headers, "sec-fetch-site");
  const foreignFetch = fetchSite !== null && fetchSite !== "same-origin" && fetchSite !== "none";
  const foreignOrigin = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
  if (foreignFetch || foreignOrigin) throw new HttpError({ code: "cross_site" });
}

async function requireAdmin({ headers, address }: RawRequest): Promise<void> {
  const token = env().LAB_ADMIN_TOKEN;
  if (token === undefined) return;
  const session = readCookie(headers.cookie ?? null, SESSION_COOKIE);
  if (session !== null && (await isOpenSession(session, token))) return;
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  if (bearer !== undefined && isRightToken({ given: bearer, expected: token, address })) return;
  throw new HttpError({ code: "admin_token_required", headers: { "www-authenticate": "Bearer" } });
}

export function readCookie(header: string | null, name: string): string | null {
  for (const part of header?.split(";") ?? []) {
    const [key, value] = part.trim().split("=", 2);
    if (key === name) return value ?? null;
  }
  return null;
}
