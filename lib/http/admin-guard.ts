import { createHash, timingSafeEqual } from "node:crypto";
import { env } from "../services/current-env";
import { HttpError } from "./errors";

/** Name of the dashboard's session cookie. It holds a digest of the admin token, never the token. */
export const SESSION_COOKIE = "lab_session";

/** The parts of a request that say who sends it and from where. */
export interface RequestOrigin {
  readonly host: string | null;
  readonly origin: string | null;
  readonly secFetchSite: string | null;
  readonly authorization: string | null;
  readonly cookie: string | null;
}

/**
 * For routes that change the lab: refuses what another site sends, and asks for the admin token when one is set.
 * @throws HttpError 403 `cross_site`, 401 `admin_token_required`
 */
export function guardAdmin(request: RequestOrigin): void {
  refuseCrossSite(request);
  const token = env().LAB_ADMIN_TOKEN;
  if (token === undefined) return;
  const bearer = /^Bearer (.+)$/.exec(request.authorization ?? "")?.[1];
  if (bearer !== undefined && sameSecret(bearer, token)) return;
  const session = readCookie(request.cookie, SESSION_COOKIE);
  if (session !== null && sameSecret(session, sessionValue(token))) return;
  throw new HttpError({
    status: 401,
    code: "admin_token_required",
    message: "This changes the lab; send the admin token as Authorization: Bearer.",
    headers: { "www-authenticate": "Bearer" },
  });
}

/** @throws HttpError 403 `cross_site` */
export function refuseCrossSite({ host, origin, secFetchSite }: RequestOrigin): void {
  const foreignFetch = secFetchSite !== null && secFetchSite !== "same-origin" && secFetchSite !== "none";
  const foreignOrigin = origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host);
  if (!foreignFetch && !foreignOrigin) return;
  throw new HttpError({ status: 403, code: "cross_site", message: "Another site may not change the lab." });
}

/** What the session cookie holds for a token. */
export function sessionValue(token: string): string {
  return createHash("sha256").update(`flash-sale-lab session\n${token}`).digest("hex");
}

/** Constant time, also for different lengths. */
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
