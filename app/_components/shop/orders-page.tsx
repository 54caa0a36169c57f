"use client";

import { LabLink } from "../ui/lab-link";
import { When } from "../ui/when";
import { OrderCard } from "./order-card";
import styles from "./orders-page.module.css";
import { ShopFrame } from "./shop-frame";
import { useShop } from "./shop-provider";

/** The visitor's orders, newest first, and claimed coupons. */
export function OrdersPage({ renderedAtEpochMs }: { renderedAtEpochMs: number }) {
  const { myPurchases, buyerId, isReachable } = useShop();
  const refresh = () => void myPurchases.refresh();
  return (
    <ShopFrame
      title="My orders"
      lead="A signed cookie links your orders to this browser; you need no account. Payments are simulated: you choose whether they succeed."
    >
      {myPurchases.value === null ? (
        <NoOrders isReachable={isReachable} isRefused={myPurchases.isStale} />
      ) : myPurchases.value.orders.length === 0 && myPurchases.value.claims.length === 0 ? (
        <p>
          You have no orders yet. <LabLink href="/shop">See what is on sale</LabLink>.
        </p>
      ) : (
        <>
          <section aria-label="Orders" className={styles.orders}>
            {myPurchases.value.orders.map((order) => (
              <OrderCard
                key={order.id}
                order={order}
                renderedAtEpochMs={renderedAtEpochMs}
                namesProduct
                onChanged={refresh}
              />
            ))}
          </section>
          {myPurchases.value.claims.length === 0 ? null : (
            <section aria-labelledby="my-coupons">
              <h2 id="my-coupons">Coupons</h2>
              <ul className={styles.claims}>
                {myPurchases.value.claims.map((claim) => (
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
          Your buyer ID: <code>{buyerId}</code>
        </p>
      )}
    </ShopFrame>
  );
}

function NoOrders({ isReachable, isRefused }: { isReachable: boolean; isRefused: boolean }) {
  if (!isReachable) return <p>The shop does not answer. Your orders appear here when it does.</p>;
  return isRefused ? (
    <p>The shop cannot identify this browser. Allow cookies for this site, then reload the page.</p>
  ) : (
    <p className="muted">Loading your orders …</p>
  );
}
