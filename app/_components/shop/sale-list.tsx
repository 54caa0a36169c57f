"use client";

import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import { usePolled } from "@/app/_hooks/shop/use-polled";
import { formatCount, formatPrice } from "@/app/_lib/format";
import { spokenCountdown } from "@/app/_lib/shop/countdown";
import { couponState, type Offer, type OfferState, productState, STATE_TEXT, unitsHeld } from "@/app/_lib/shop/offer";
import type { ShopCoupon, ShopProduct } from "@/lib/shop/api";
import { useLabStatus } from "../site/lab-status";
import { LabLink } from "../ui/lab-link";
import { Countdown } from "./countdown";
import { RunStrip } from "./run-strip";
import styles from "./sale-list.module.css";
import { ShopFrame } from "./shop-frame";
import { useShop } from "./shop-provider";

const POLL_INTERVAL_MS = 2_000;
const TICK_MS = 250;

interface SaleListProps {
  readonly products: readonly ShopProduct[];
  readonly coupons: readonly ShopCoupon[];
  readonly renderedAtEpochMs: number;
}

/** Products and coupons with their stock and opening times. */
export function SaleList({ renderedAtEpochMs, ...initial }: SaleListProps) {
  const { myPurchases } = useShop();
  const { catalogue } = useLabStatus();
  const { products } = usePolled({ path: "/api/products", everyMs: POLL_INTERVAL_MS, initial }).value;
  const { coupons } = usePolled({ path: "/api/coupons", everyMs: POLL_INTERVAL_MS, initial }).value;
  const isAnyClosed = [...products, ...coupons].some(({ opensAtEpochMs }) => opensAtEpochMs !== null);
  const now = useLabNow(renderedAtEpochMs, isAnyClosed ? TICK_MS : null);
  const { orders = [], claims = [] } = myPurchases.value ?? {};
  return (
    <ShopFrame
      title="Shop"
      lead={
        <>
          Every purchase reduces the stock through the shop's strategy, currently{" "}
          {catalogue.active === "mixed" ? "different on some nodes" : <code>{catalogue.active}</code>}. Payments are
          simulated.
        </>
      }
    >
      <RunStrip />
      <section aria-labelledby="products">
        <h2 id="products">Products</h2>
        {products.length === 0 ? <p className="muted">No products are on sale.</p> : null}
        <ul className={styles.list}>
          {products.map((product) => (
            <SaleRow
              key={product.id}
              href={`/shop/products/${product.id}`}
              name={product.name}
              about={product.description}
              price={formatPrice(product.priceCents)}
              offer={product}
              state={productState(product, unitsHeld(orders, product.id), now)}
              now={now}
            />
          ))}
        </ul>
      </section>
      <section aria-labelledby="coupons">
        <h2 id="coupons">Coupons</h2>
        {coupons.length === 0 ? <p className="muted">There are no coupons.</p> : null}
        <ul className={styles.list}>
          {coupons.map((coupon) => (
            <SaleRow
              key={coupon.id}
              href={`/shop/coupons/${coupon.id}`}
              name={coupon.code}
              about={coupon.name}
              price={`−${coupon.discountPercent} %`}
              offer={coupon}
              state={couponState(
                coupon,
                claims.some(({ couponId }) => couponId === coupon.id),
                now,
              )}
              now={now}
            />
          ))}
        </ul>
      </section>
    </ShopFrame>
  );
}

interface SaleRowProps {
  readonly href: string;
  readonly name: string;
  readonly about: string;
  readonly price: string;
  readonly offer: Offer;
  readonly state: OfferState;
  readonly now: number;
}

function SaleRow({ href, name, about, price, offer, state, now }: SaleRowProps) {
  const leftMs = state === "not_open" && offer.opensAtEpochMs !== null ? offer.opensAtEpochMs - now : 0;
  return (
    <li className={styles.row} data-state={state}>
      <p className={styles.name}>
        <LabLink href={href}>{name}</LabLink>
      </p>
      <p className={styles.about}>{about}</p>
      <p className={styles.price}>{price}</p>
      <p className={styles.left}>
        <b>{formatCount(Math.max(0, offer.stock))}</b> left
      </p>
      <p className={styles.state}>
        <span className={styles.mark} aria-hidden="true" />
        {state === "not_open" ? (
          <>
            Opens in <Countdown leftMs={leftMs} />
            <span className="visually-hidden">{spokenCountdown(leftMs)}</span>
          </>
        ) : (
          STATE_TEXT[state]
        )}
      </p>
    </li>
  );
}
