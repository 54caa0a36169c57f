"use client";

import { useCallback, useEffect, useState } from "react";
import { useShop } from "../../_components/shop/shop-provider";
import { classOf } from "../../_lib/shop/answer";
import { callShop } from "../../_lib/shop/call-shop";
import type { RequestState } from "../../_lib/shop/idempotent-request";

interface PurchaseToken {
  readonly purchaseToken: string | null;
  readonly isAsking: boolean;
  readonly problem: string | null;
}

const NONE: PurchaseToken = { purchaseToken: null, isAsking: false, problem: null };
/** After these there is another one to get. */
const SPENT = new Set([
  "purchase_token_missing",
  "purchase_token_unknown",
  "purchase_token_foreign",
  "purchase_token_used",
]);

/** The visitor's unused purchase token for a product. The shop gives the same one until it is used, so none is kept here. */
export function usePurchaseToken(productId: number, requestState: RequestState) {
  const { identify } = useShop();
  const [state, setState] = useState(NONE);

  const get = useCallback(async () => {
    setState({ ...NONE, isAsking: true });
    // The token is issued to whom the cookie says; a first visit may not have it yet.
    await identify();
    const answer = await callShop({ path: "/api/purchase-tokens", method: "POST", body: { productId } });
    const issued = (answer.body as { purchaseToken?: unknown } | null)?.purchaseToken;
    if (classOf(answer) === "completed" && typeof issued === "string") setState({ ...NONE, purchaseToken: issued });
    else setState({ ...NONE, problem: answer.message });
  }, [productId, identify]);

  const last = requestState.phase === "settled" ? requestState.last : null;
  useEffect(() => {
    if (last !== null && (classOf(last) === "completed" || SPENT.has(last.code))) setState(NONE);
  }, [last]);

  return { ...state, get: () => void get() };
}
