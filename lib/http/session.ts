import type { IncomingHttpHeaders } from "node:http";
import { closeSession, isOpenSession, openSession, SESSION_SECONDS } from "../services/admin-sessions";
import { env } from "../services/current-env";
import { readCookie, SESSION_COOKIE } from "./access";
import { json, type WholeAnswer } from "./answer";
import { HttpError } from "./errors";
import { headerOf, type RawRequest } from "./raw-request";
import { isRightToken } from "./token-guesses";

/** Exchanges the admin token for a session cookie. @throws HttpError `rate_limited`, `admin_token_wrong` */
export async function logIn(token: string, { headers, address }: RawRequest): Promise<WholeAnswer> {
  const expected = env().LAB_ADMIN_TOKEN;
  if (expected === undefined) return json({ loggedIn: true });
  if (!isRightToken({ given: token, expected, address })) {
    throw new HttpError({ code: "admin_token_wrong", details: { field: "token" } });
  }
  const cookie = sessionCookie(await openSession(expected), SESSION_SECONDS, headers);
  return json({ loggedIn: true }, { headers: { "set-cookie": cookie } });
}

/** Whether a page shows that its user can log out. If PostgreSQL does not answer, the session may be open. */
export async function isLoggedIn(session: string | undefined): Promise<boolean> {
  const token = env().LAB_ADMIN_TOKEN;
  if (session === undefined || token === undefined) return false;
  return isOpenSession(session, token).catch(() => true);
}

/** Ends the session of the request's cookie, if it has one. */
export async function logOut({ headers }: RawRequest): Promise<WholeAnswer> {
  const session = readCookie(headers.cookie ?? null, SESSION_COOKIE);
  const token = env().LAB_ADMIN_TOKEN;
  if (session !== null && token !== undefined) await closeSession(session, token);
  return json({ loggedIn: false }, { headers: { "set-cookie": sessionCookie("", 0, headers) } });
}

function sessionCookie(value: string, maxAgeSeconds: number, headers: IncomingHttpHeaders): string {
  const secure = isHttps(headers) ? "; Secure" : "";
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}

/** The lab itself speaks HTTP, so a proxy in front or the browser's origin says whether the client uses HTTPS. */
function isHttps(headers: IncomingHttpHeaders): boolean {
  const forwarded = headerOf(headers, "x-forwarded-proto")?.split(",")[0]?.trim();
  return forwarded === "https" || headers.origin?.startsWith("https://") === true;
}
