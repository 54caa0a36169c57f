"use client";

import { useCallback, useEffect, useState } from "react";
import { useShop } from "../../_components/shop/shop-provider";
import { classOf } from "../../_lib/shop/answer";
import { callShop } from "../../_lib/shop/call-shop";
import type { RequestState } from "../../_lib/shop/idempotent-request";

interface PurchaseToken {
  readonly purchaseToken: string | null;
  readonly isLoading: boolean;
  readonly problem: string | null;
}

const NONE: PurchaseToken = { purchaseToken: null, isLoading: false, problem: null };
/** Errors after which the visitor needs a new token. */
const NEEDS_NEW_TOKEN = new Set([
  "purchase_token_missing",
  "purchase_token_unknown",
  "purchase_token_foreign",
  "purchase_token_used",
]);

/** The visitor's unused purchase token for a product. Not stored: the shop returns the same token until it is used. */
export function usePurchaseToken(productId: number, requestState: RequestState) {
  const { identify } = useShop();
  const [state, setState] = useState(NONE);

  const get = useCallback(async () => {
    setState({ ...NONE, isLoading: true });
    // The shop issues the token to the buyer in the cookie, which a first visit may not have yet.
    await identify();
    const answer = await callShop({ path: "/api/purchase-tokens", method: "POST", body: { productId } });
    const issued = (answer.body as { purchaseToken?: unknown } | null)?.purchaseToken;
    if (classOf(answer) === "completed" && typeof issued === "string") setState({ ...NONE, purchaseToken: issued });
    else setState({ ...NONE, problem: answer.message });
  }, [productId, identify]);

  const last = requestState.phase === "settled" ? requestState.last : null;
  useEffect(() => {
    if (last !== null && (classOf(last) === "completed" || NEEDS_NEW_TOKEN.has(last.code))) setState(NONE);
  }, [last]);

  return { ...state, get: () => void get() };
}
