/** State of a product or coupon for a visitor. */

export interface Offer {
  /** Units or claims left. */
  readonly stock: number;
  /** Null: open now. */
  readonly opensAtEpochMs: number | null;
}

export interface ProductOffer extends Offer {
  readonly limitPerUser: number | null;
}

export type OfferState = "not_open" | "open" | "sold_out" | "limit_reached" | "already_claimed";

/** Largest quantity that the API accepts. */
const MAX_QUANTITY = 100;

/**
 * @param heldUnits units in the visitor's pending and paid orders
 * @param nowEpochMs by the lab's clock
 */
export function productState(offer: ProductOffer, heldUnits: number, nowEpochMs: number): OfferState {
  if (!isOpen(offer, nowEpochMs)) return "not_open";
  if (offer.limitPerUser !== null && heldUnits >= offer.limitPerUser) return "limit_reached";
  return offer.stock > 0 ? "open" : "sold_out";
}

export function couponState(offer: Offer, isClaimed: boolean, nowEpochMs: number): OfferState {
  if (isClaimed) return "already_claimed";
  if (!isOpen(offer, nowEpochMs)) return "not_open";
  return offer.stock > 0 ? "open" : "sold_out";
}

export function isOpen({ opensAtEpochMs }: Offer, nowEpochMs: number): boolean {
  return opensAtEpochMs === null || nowEpochMs >= opensAtEpochMs;
}

export const STATE_TEXT: Readonly<Record<OfferState, string>> = {
  not_open: "Not open yet",
  open: "On sale",
  sold_out: "Sold out",
  limit_reached: "Already ordered",
  already_claimed: "Claimed",
};

/** Units that the visitor may order at once; at least 1, so that the input has a valid range. */
export function largestQuantity({ stock, limitPerUser }: ProductOffer, heldUnits: number): number {
  const allowed = limitPerUser === null ? MAX_QUANTITY : limitPerUser - heldUnits;
  return Math.max(1, Math.min(MAX_QUANTITY, allowed, stock));
}

/** Units of a product in the visitor's pending and paid orders. */
export function unitsHeld(
  orders: readonly { readonly productId: number; readonly quantity: number; readonly status: string }[],
  productId: number,
): number {
  return orders
    .filter((order) => order.productId === productId && (order.status === "pending" || order.status === "paid"))
    .reduce((sum, { quantity }) => sum + quantity, 0);
}
