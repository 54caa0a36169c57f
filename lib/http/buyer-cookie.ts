import { BUYER_COOKIE, BUYER_COOKIE_SECONDS, newVisitorId, signVisitorId, visitorOf } from "../shop/buyer-id";
import { ShopError } from "../shop/shop-error";
import { readCookie } from "./admin-guard";

/** The visitor who sends this; null when he has no cookie of ours. */
export function visitorOfRequest(cookieHeader: string | null): Promise<string | null> {
  return visitorOf(readCookie(cookieHeader, BUYER_COOKIE));
}

/** @throws ShopError `buyer_required` */
export async function requireVisitor(cookieHeader: string | null): Promise<string> {
  const buyerId = await visitorOfRequest(cookieHeader);
  if (buyerId !== null) return buyerId;
  const message = "This needs the cookie of GET /api/buyer.";
  throw new ShopError({ code: "buyer_required", message, details: { field: "cookie" } });
}

/** The ids the shop has given out are used by those it gave them to. @throws ShopError `buyer_mismatch` */
export async function refuseForeignVisitor(cookieHeader: string | null, buyerId: string): Promise<void> {
  if ((await visitorOfRequest(cookieHeader)) === buyerId) return;
  const message = "userId: it belongs to a visitor whose cookie this request does not have.";
  throw new ShopError({ code: "buyer_mismatch", message, details: { field: "userId" } });
}

/** The visitor, known or new, and the cookie that says so. */
export async function admitVisitor(cookieHeader: string | null): Promise<{ buyerId: string; setCookie: string }> {
  const buyerId = (await visitorOfRequest(cookieHeader)) ?? newVisitorId();
  const value = await signVisitorId(buyerId);
  const setCookie = `${BUYER_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${BUYER_COOKIE_SECONDS}`;
  return { buyerId, setCookie };
}
