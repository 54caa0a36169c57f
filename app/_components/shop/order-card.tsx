"use client";

import { useIdempotentRequest } from "@/app/_hooks/shop/use-idempotent-request";
import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import { formatPrice } from "@/app/_lib/format";
import { isInProgress } from "@/app/_lib/shop/idempotent-request";
import { ORDER_TEXT, orderSentence } from "@/app/_lib/shop/shop-text";
import type { ShopOrder } from "@/lib/shop/api";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import { When } from "../ui/when";
import { Countdown } from "./countdown";
import styles from "./order-card.module.css";
import { RequestStatus } from "./request-status";

interface OrderCardProps {
  readonly order: ShopOrder;
  readonly renderedAtEpochMs: number;
  /** Shows the product name; used in lists with several products. */
  readonly namesProduct: boolean;
  readonly onChanged: () => void;
}

/** One order with its status, payment deadline, actions, and the node and strategy that served it. */
export function OrderCard({ order, renderedAtEpochMs, namesProduct, onChanged }: OrderCardProps) {
  const isPending = order.status === "pending";
  const now = useLabNow(renderedAtEpochMs, isPending && order.expiresAtEpochMs !== null ? 500 : null);
  const leftMs = order.expiresAtEpochMs === null ? null : order.expiresAtEpochMs - now;
  return (
    <article className={styles.card} data-status={order.status} data-testid="order" aria-label={`Order ${order.id}`}>
      <div className={styles.what}>
        <p className={styles.title}>
          {namesProduct ? (
            <LabLink href={`/shop/products/${order.productId}`}>{order.productName}</LabLink>
          ) : (
            <>Order {order.id}</>
          )}{" "}
          <span className="mono">
            {order.quantity} × {formatPrice(order.priceCents)}
          </span>
        </p>
        <p className={styles.status}>
          <span className={styles.mark} aria-hidden="true" />
          <strong data-testid="order-status">{ORDER_TEXT[order.status]}</strong>. <span>{orderSentence(order)}</span>
        </p>
        <p className={styles.facts}>
          {namesProduct ? `order ${order.id}, ` : ""}
          <When epochMs={order.createdAtEpochMs} />, served by <code>{order.node}</code> under{" "}
          <code>{order.strategy}</code>
          {order.failedPayments > 0
            ? `, ${order.failedPayments} failed ${order.failedPayments === 1 ? "payment" : "payments"}`
            : ""}
        </p>
      </div>
      {isPending ? <OrderActions order={order} leftMs={leftMs} onChanged={onChanged} /> : null}
    </article>
  );
}

interface OrderActionsProps {
  readonly order: ShopOrder;
  readonly leftMs: number | null;
  readonly onChanged: () => void;
}

function OrderActions({ order, leftMs, onChanged }: OrderActionsProps) {
  const act = useIdempotentRequest({ name: `order-${order.id}`, namesBuyer: false, onSettled: onChanged });
  const { requestState } = act;
  const isOver = leftMs !== null && leftMs <= 0;
  const isBusy = isInProgress(requestState);
  const pay = (outcome: "succeed" | "fail") => act.submit(`/api/orders/${order.id}/pay`, { outcome });
  return (
    <div className={styles.actions}>
      <p className={styles.deadline}>
        {leftMs === null ? (
          "No payment deadline: this order belongs to a run."
        ) : isOver ? (
          "The payment deadline has passed."
        ) : (
          <>
            Pay within <Countdown leftMs={leftMs} />
            <span className="visually-hidden">the payment deadline</span>
          </>
        )}
      </p>
      <div className={styles.buttons}>
        <button type="button" className={button.primary} disabled={isBusy || isOver} onClick={() => pay("succeed")}>
          {isBusy ? "Working …" : `Pay ${formatPrice(order.priceCents * order.quantity)}`}
        </button>
        <button type="button" className={button.plain} disabled={isBusy || isOver} onClick={() => pay("fail")}>
          Fail payment
        </button>
        <button
          type="button"
          className={button.plain}
          disabled={isBusy}
          onClick={() => act.submit(`/api/orders/${order.id}/cancel`, {})}
        >
          Cancel
        </button>
      </div>
      <RequestStatus request={act} />
    </div>
  );
}
