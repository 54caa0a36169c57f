"use client";

import { useIdempotentRequest } from "@/app/_hooks/shop/use-idempotent-request";
import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import { usePolled } from "@/app/_hooks/shop/use-polled";
import { classOf, orderIdOf } from "@/app/_lib/shop/answer";
import { formatPrice, productState, unitsHeld } from "@/app/_lib/shop/offer";
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

const LOOK_EVERY_MS = 1_500;
const TICK_MS = 200;
const SHOWN_ORDERS = 5;

interface ProductPageProps {
  readonly initial: ProductView;
  /** The run that made this product for itself. */
  readonly runId: string | null;
  readonly renderedAtEpochMs: number;
}

export function ProductPage({ initial, runId, renderedAtEpochMs }: ProductPageProps) {
  const { mine } = useShop();
  const { id } = initial.product;
  const polled = usePolled({ path: `/api/products/${id}`, everyMs: LOOK_EVERY_MS, initial });
  const { product, orders } = polled.value;
  const now = useLabNow(renderedAtEpochMs, product.opensAtEpochMs === null ? null : TICK_MS);
  const run = useActiveRun();
  const refresh = () => {
    void mine.refresh();
    void polled.refresh();
  };
  const request = useIdempotentRequest({ name: `product-${id}`, namesBuyer: true, onSettled: refresh });
  const myOrders = mine.value?.orders.filter(({ productId }) => productId === id) ?? [];
  const held = unitsHeld(myOrders, id);
  // A run opens its doors itself, whatever the product says.
  const isInRun = run?.target.kind === "product" && run.target.id === id;
  const state = productState(isInRun ? { ...product, opensAtEpochMs: null } : product, held, now);
  const { requestState } = request;
  const bought =
    requestState.phase === "settled" && classOf(requestState.last) === "completed" ? requestState.last : null;
  // Once it is paid or ended, its own line says so.
  const isSettled = myOrders.some((order) => order.id === orderIdOf(bought) && order.status !== "pending");
  return (
    <ShopFrame
      title={product.name}
      lead={
        runId === null ? (
          product.description
        ) : (
          <>
            Made by run <LabLink href={`/runs/${runId}`}>{runId}</LabLink> for itself, and on sale to people like
            anything else.
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
            A run is on: {crowdText(run)} want it too, under <code>{run.strategy}</code>.
          </p>
        ) : null}
        <BuyBox product={product} state={state} mine={held} request={request} />
        <RequestStatus request={request} done={bought === null || isSettled ? "" : boughtText(bought)} />
        {requestState.phase === "idle" ? null : <ServedBy answer={requestState.last} />}
      </OfferHead>

      {myOrders.length === 0 ? null : (
        <section aria-labelledby="my-orders">
          <h2 id="my-orders">Your orders of it</h2>
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
              <LabLink href="/shop/orders">All {myOrders.length} of them</LabLink>
            </p>
          ) : null}
        </section>
      )}

      <UnitTable view={polled.value} />
      {runId === null ? <OpeningControl kind="product" id={id} onChanged={() => void polled.refresh()} /> : null}
    </ShopFrame>
  );
}
