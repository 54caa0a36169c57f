"use client";

import { LabLink } from "../ui/lab-link";
import { When } from "../ui/when";
import { OrderCard } from "./order-card";
import styles from "./orders-page.module.css";
import { ShopFrame } from "./shop-frame";
import { useShop } from "./shop-provider";

/** What the visitor has: orders, newest first, and coupons. */
export function OrdersPage({ renderedAtEpochMs }: { renderedAtEpochMs: number }) {
  const { mine, buyerId, isReachable } = useShop();
  const refresh = () => void mine.refresh();
  return (
    <ShopFrame
      title="My orders"
      lead="Yours by a cookie that only this shop can sign; nobody was asked for a name. Payments are simulated: you say how they go."
    >
      {mine.value === null ? (
        <Unknown isReachable={isReachable} isRefused={mine.isStale} />
      ) : mine.value.orders.length === 0 && mine.value.claims.length === 0 ? (
        <p>
          Nothing yet. <LabLink href="/shop">See what is on sale</LabLink>.
        </p>
      ) : (
        <>
          <section aria-label="Orders" className={styles.orders}>
            {mine.value.orders.map((order) => (
              <OrderCard
                key={order.id}
                order={order}
                renderedAtEpochMs={renderedAtEpochMs}
                namesProduct
                onChanged={refresh}
              />
            ))}
          </section>
          {mine.value.claims.length === 0 ? null : (
            <section aria-labelledby="my-coupons">
              <h2 id="my-coupons">Coupons</h2>
              <ul className={styles.claims}>
                {mine.value.claims.map((claim) => (
                  <li key={claim.id}>
                    <LabLink href={`/shop/coupons/${claim.couponId}`} className="mono">
                      {claim.code}
                    </LabLink>
                    <span>{claim.couponName}</span>
                    <span className="muted">
                      <When epochMs={claim.createdAtEpochMs} />, served by <code>{claim.node}</code> under{" "}
                      <code>{claim.strategy}</code>
                    </span>
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
      {buyerId === null ? null : (
        <p className={styles.buyer}>
          You are <code>{buyerId}</code>
        </p>
      )}
    </ShopFrame>
  );
}

function Unknown({ isReachable, isRefused }: { isReachable: boolean; isRefused: boolean }) {
  if (!isReachable) return <p>Your orders will be here once the shop answers.</p>;
  return isRefused ? (
    <p>The shop does not know this browser: it may be keeping no cookies, and orders are kept by one.</p>
  ) : (
    <p className="muted">Looking for your orders …</p>
  );
}
