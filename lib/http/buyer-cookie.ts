import { BUYER_COOKIE, BUYER_COOKIE_SECONDS, newVisitorId, signVisitorId, visitorOf } from "../shop/buyer-id";
import { readCookie } from "./access";
import { HttpError } from "./errors";

/** @returns the visitor's id, or null if the request has no buyer cookie that this shop signed */
function visitorOfRequest(cookieHeader: string | null): Promise<string | null> {
  return visitorOf(readCookie(cookieHeader, BUYER_COOKIE));
}

/** @throws HttpError `buyer_required` */
export async function requireVisitor(cookieHeader: string | null): Promise<string> {
  const buyerId = await visitorOfRequest(cookieHeader);
  if (buyerId !== null) return buyerId;
  throw new HttpError({ code: "buyer_required", details: { field: "cookie" } });
}

/** Only the visitor that an id was issued to may use it. @throws HttpError `buyer_mismatch` */
export async function requireOwnVisitorId(cookieHeader: string | null, buyerId: string): Promise<void> {
  if ((await visitorOfRequest(cookieHeader)) === buyerId) return;
  throw new HttpError({ code: "buyer_mismatch", details: { field: "userId" } });
}

/** Reads the visitor's id or issues one. The cookie proves it and is renewed each time. */
export async function identifyVisitor(cookieHeader: string | null): Promise<{ buyerId: string; setCookie: string }> {
  const buyerId = (await visitorOfRequest(cookieHeader)) ?? newVisitorId();
  const value = await signVisitorId(buyerId);
  const setCookie = `${BUYER_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${BUYER_COOKIE_SECONDS}`;
  return { buyerId, setCookie };
}
