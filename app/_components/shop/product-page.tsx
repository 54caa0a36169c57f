"use client";

import { useIdempotentRequest } from "@/app/_hooks/shop/use-idempotent-request";
import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import { usePolled } from "@/app/_hooks/shop/use-polled";
import { formatPrice } from "@/app/_lib/format";
import { classOf, orderIdOf } from "@/app/_lib/shop/answer";
import { productState, unitsHeld } from "@/app/_lib/shop/offer";
import { boughtText, offerText } from "@/app/_lib/shop/shop-text";
import type { ProductView } from "@/app/_lib/shop/views";
import { LabLink } from "../ui/lab-link";
import { BuyBox } from "./buy-box";
import { OfferHead } from "./offer-head";
import { OpeningControl } from "./opening-control";
import { OrderCard } from "./order-card";
import styles from "./product-page.module.css";
import { RequestStatus } from "./request-status";
import { crowdText, useActiveRun } from "./run-strip";
import { ServedBy } from "./served-by";
import { ShopFrame } from "./shop-frame";
import { useShop } from "./shop-provider";
import { UnitTable } from "./unit-table";

const POLL_INTERVAL_MS = 1_500;
const TICK_MS = 200;
const SHOWN_ORDERS = 5;

interface ProductPageProps {
  readonly initial: ProductView;
  /** The run that created this product; null for a product of the shop. */
  readonly runId: string | null;
  readonly renderedAtEpochMs: number;
}

export function ProductPage({ initial, runId, renderedAtEpochMs }: ProductPageProps) {
  const { myPurchases } = useShop();
  const { id } = initial.product;
  const polled = usePolled({ path: `/api/products/${id}`, everyMs: POLL_INTERVAL_MS, initial });
  const { product, orders } = polled.value;
  const now = useLabNow(renderedAtEpochMs, product.opensAtEpochMs === null ? null : TICK_MS);
  const run = useActiveRun();
  const refresh = () => {
    void myPurchases.refresh();
    void polled.refresh();
  };
  const request = useIdempotentRequest({ name: `product-${id}`, namesBuyer: true, onSettled: refresh });
  const myOrders = myPurchases.value?.orders.filter(({ productId }) => productId === id) ?? [];
  const held = unitsHeld(myOrders, id);
  // An active run sells its target regardless of the product's opening time.
  const isInRun = run?.target.kind === "product" && run.target.id === id;
  const state = productState(isInRun ? { ...product, opensAtEpochMs: null } : product, held, now);
  const { requestState } = request;
  const bought =
    requestState.phase === "settled" && classOf(requestState.last) === "completed" ? requestState.last : null;
  // A paid or ended order shows its own status.
  const isSettled = myOrders.some((order) => order.id === orderIdOf(bought) && order.status !== "pending");
  return (
    <ShopFrame
      title={product.name}
      lead={
        runId === null ? (
          product.description
        ) : (
          <>
            Product of run <LabLink href={`/runs/${runId}`}>{runId}</LabLink>. You can buy it like any other product.
          </>
        )
      }
    >
      <OfferHead
        offer={product}
        state={state}
        now={now}
        price={formatPrice(product.priceCents)}
        sentence={offerText(product, state, orders)}
      >
        {isInRun ? (
          <p className={styles.crowd}>
            A run is active: {crowdText(run)} also try to buy this product, under <code>{run.strategy}</code>.
          </p>
        ) : null}
        <BuyBox product={product} state={state} heldUnits={held} request={request} />
        <RequestStatus request={request} done={bought === null || isSettled ? "" : boughtText(bought)} />
        {requestState.phase === "idle" ? null : <ServedBy answer={requestState.last} />}
      </OfferHead>

      {myOrders.length === 0 ? null : (
        <section aria-labelledby="my-orders">
          <h2 id="my-orders">Your orders of this product</h2>
          {myOrders.slice(0, SHOWN_ORDERS).map((order) => (
            <OrderCard
              key={order.id}
              order={order}
              renderedAtEpochMs={renderedAtEpochMs}
              namesProduct={false}
              onChanged={refresh}
            />
          ))}
          {myOrders.length > SHOWN_ORDERS ? (
            <p className={styles.more}>
              <LabLink href="/shop/orders">Show all {myOrders.length} orders</LabLink>
            </p>
          ) : null}
        </section>
      )}

      <UnitTable view={polled.value} />
      {runId === null ? <OpeningControl kind="product" id={id} onChanged={() => void polled.refresh()} /> : null}
    </ShopFrame>
  );
}
