import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { env } from "../services/current-env";
import { HttpError } from "./errors";
import { headerOf } from "./raw-request";
import type { Route } from "./route";

/** Name of the dashboard's session cookie. It holds a digest of the admin token, never the token. */
export const SESSION_COOKIE = "lab_session";

/**
 * Rejects a request that may not use a route of this access.
 * @throws HttpError `cross_site`, `admin_token_required`
 */
export function guardAccess(access: Route["access"], headers: IncomingHttpHeaders): void {
  if (access === "anyone") return;
  requireSameSite(headers);
  if (access === "admin") requireAdminToken(headers);
}

function requireSameSite(headers: IncomingHttpHeaders): void {
  const { host, origin } = headers;
  const fetchSite = headerOf(headers, "sec-fetch-site");
  const foreignFetch = fetchSite !== null && fetchSite !== "same-origin" && fetchSite !== "none";
  const foreignOrigin = origin !== undefined && (!URL.canParse(origin) || new URL(origin).host !== host);
  if (foreignFetch || foreignOrigin) throw new HttpError({ code: "cross_site" });
}

function requireAdminToken({ authorization = "", cookie = null }: { authorization?: string; cookie?: string | null }) {
  const token = env().LAB_ADMIN_TOKEN;
  if (token === undefined) return;
  const bearer = /^Bearer (.+)$/.exec(authorization)?.[1];
  if (bearer !== undefined && sameSecret(bearer, token)) return;
  const session = readCookie(cookie, SESSION_COOKIE);
  if (session !== null && sameSecret(session, sessionValue(token))) return;
  throw new HttpError({ code: "admin_token_required", headers: { "www-authenticate": "Bearer" } });
}

/** The session cookie's value for a token. */
export function sessionValue(token: string): string {
  return createHash("sha256").update(`flash-sale-lab session\n${token}`).digest("hex");
}

/** Compares in constant time, also secrets of different lengths. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

export function readCookie(header: string | null, name: string): string | null {
  for (const part of header?.split(";") ?? []) {
    const [key, value] = part.trim().split("=", 2);
    if (key === name) return value ?? null;
  }
  return null;
}
