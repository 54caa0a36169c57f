"use client";

import { type FormEvent, useState } from "react";
import type { RequestControl } from "@/app/_hooks/shop/use-idempotent-request";
import { usePurchaseToken } from "@/app/_hooks/shop/use-purchase-token";
import { formatPrice } from "@/app/_lib/format";
import { isInProgress, type RequestState } from "@/app/_lib/shop/idempotent-request";
import { largestQuantity, type OfferState } from "@/app/_lib/shop/offer";
import type { ShopProduct } from "@/lib/shop/api";
import button from "../ui/button.module.css";
import styles from "./buy-box.module.css";

interface BuyBoxProps {
  readonly product: ShopProduct;
  readonly state: OfferState;
  /** Units in the visitor's pending and paid orders. */
  readonly heldUnits: number;
  readonly request: RequestControl;
}

const CLOSED: Partial<Record<OfferState, string>> = {
  not_open: "Not open yet",
  sold_out: "Sold out",
  limit_reached: "Limit reached",
};

export function BuyBox({ product, state, heldUnits, request }: BuyBoxProps) {
  const [wanted, setWanted] = useState(1);
  const token = usePurchaseToken(product.id, request.requestState);
  const most = largestQuantity(product, heldUnits);
  const quantity = Math.min(Math.max(1, wanted), most);
  const isBusy = isInProgress(request.requestState) || request.requestState.phase === "given_up";
  const needsToken = product.requiresPurchaseToken && token.purchaseToken === null;
  const buy = (event: FormEvent) => {
    event.preventDefault();
    if (state !== "open" || needsToken) return;
    const withToken = token.purchaseToken === null ? {} : { purchaseToken: token.purchaseToken };
    request.submit(`/api/products/${product.id}/reduce-stock`, { quantity, ...withToken });
  };
  return (
    <form className={styles.box} onSubmit={buy}>
      {product.requiresPurchaseToken ? <TokenLine token={token} /> : null}
      <div className={styles.line}>
        {most > 1 && state === "open" ? (
          <label className={styles.quantity}>
            <span>Quantity</span>
            <input
              type="number"
              inputMode="numeric"
              min={1}
              max={most}
              value={wanted}
              disabled={isBusy}
              onChange={(event) => setWanted(Number(event.target.value))}
              onBlur={() => setWanted(quantity)}
            />
          </label>
        ) : null}
        <button
          type="submit"
          className={`${button.primary} ${styles.buy}`}
          disabled={isBusy || state !== "open" || needsToken}
          data-testid="buy"
        >
          {labelOf({ requestState: request.requestState, state, price: formatPrice(product.priceCents * quantity) })}
        </button>
      </div>
    </form>
  );
}

/** Button label: the current step of the request, else the action. */
function labelOf({
  requestState,
  state,
  price,
}: {
  requestState: RequestState;
  state: OfferState;
  price: string;
}): string {
  if (requestState.phase === "sending") return requestState.tries === 1 ? "Buying …" : "Retrying …";
  if (requestState.phase === "waiting") return "Waiting …";
  if (requestState.phase === "given_up") return "No response yet";
  return CLOSED[state] ?? `Buy for ${price}`;
}

function TokenLine({ token }: { token: ReturnType<typeof usePurchaseToken> }) {
  const { purchaseToken, isLoading, problem, get } = token;
  return (
    <div className={styles.token}>
      <p role="status">
        {purchaseToken === null ? (
          "This sale requires a purchase token. Each token is valid for one purchase."
        ) : (
          <>
            You have a purchase token, <code>{purchaseToken.slice(0, 6)}…</code>. It is valid for one purchase.
          </>
        )}
        {problem === null ? null : <span className="alarm"> {problem}</span>}
      </p>
      {purchaseToken === null ? (
        <button type="button" className={button.plain} disabled={isLoading} onClick={get}>
          {isLoading ? "Getting a token …" : "Get a purchase token"}
        </button>
      ) : null}
    </div>
  );
}
