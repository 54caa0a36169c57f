"use client";

import { useIdempotentRequest } from "@/app/_hooks/shop/use-idempotent-request";
import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import { usePolled } from "@/app/_hooks/shop/use-polled";
import { classOf } from "@/app/_lib/shop/answer";
import { isInProgress, type RequestState } from "@/app/_lib/shop/idempotent-request";
import { couponState, type OfferState } from "@/app/_lib/shop/offer";
import { couponText } from "@/app/_lib/shop/shop-text";
import type { ShopCoupon } from "@/lib/shop/api";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import styles from "./buy-box.module.css";
import { OfferHead } from "./offer-head";
import { OpeningControl } from "./opening-control";
import { RequestStatus } from "./request-status";
import { ServedBy } from "./served-by";
import { ShopFrame } from "./shop-frame";
import { useShop } from "./shop-provider";

const POLL_INTERVAL_MS = 1_500;
const TICK_MS = 200;

interface CouponPageProps {
  readonly initial: { readonly coupon: ShopCoupon };
  readonly runId: string | null;
  readonly renderedAtEpochMs: number;
}

/** Page of a coupon, which each buyer can claim once. */
export function CouponPage({ initial, runId, renderedAtEpochMs }: CouponPageProps) {
  const { myPurchases } = useShop();
  const { id } = initial.coupon;
  const polled = usePolled({ path: `/api/coupons/${id}`, everyMs: POLL_INTERVAL_MS, initial });
  const { coupon } = polled.value;
  const now = useLabNow(renderedAtEpochMs, coupon.opensAtEpochMs === null ? null : TICK_MS);
  const request = useIdempotentRequest({
    name: `coupon-${id}`,
    namesBuyer: true,
    onSettled: () => {
      void myPurchases.refresh();
      void polled.refresh();
    },
  });
  const { requestState } = request;
  const claim = myPurchases.value?.claims.find(({ couponId }) => couponId === id);
  const isDone = requestState.phase === "settled" && classOf(requestState.last) === "completed";
  const wasRefused = requestState.phase === "settled" && requestState.last.code === "already_claimed";
  const state = couponState(coupon, claim !== undefined || isDone || wasRefused, now);
  const isBusy = isInProgress(requestState) || requestState.phase === "given_up";
  return (
    <ShopFrame
      title={<code>{coupon.code}</code>}
      lead={
        runId === null ? (
          coupon.name
        ) : (
          <>
            Coupon of run <LabLink href={`/runs/${runId}`}>{runId}</LabLink>.
          </>
        )
      }
    >
      <OfferHead
        offer={coupon}
        state={state}
        now={now}
        price={`−${coupon.discountPercent} %`}
        sentence={couponText(state)}
      >
        <div className={styles.line}>
          <button
            type="button"
            className={`${button.primary} ${styles.buy}`}
            disabled={isBusy || state !== "open"}
            onClick={() => request.submit(`/api/coupons/${id}/claim`, {})}
            data-testid="claim"
          >
            {labelOf(requestState, state)}
          </button>
        </div>
        <RequestStatus request={request} done="You have claimed this coupon." />
        {requestState.phase === "idle" ? null : <ServedBy answer={requestState.last} />}
        {requestState.phase === "idle" && claim !== undefined ? (
          <p className="muted">
            Served by <code>{claim.node}</code> under <code>{claim.strategy}</code>.
          </p>
        ) : null}
      </OfferHead>
      {runId === null ? <OpeningControl kind="coupon" id={id} onChanged={() => void polled.refresh()} /> : null}
    </ShopFrame>
  );
}

const CLOSED: Partial<Record<OfferState, string>> = {
  not_open: "Not open yet",
  sold_out: "Sold out",
  already_claimed: "Claimed",
};

function labelOf(requestState: RequestState, state: OfferState): string {
  if (requestState.phase === "sending") return requestState.tries === 1 ? "Claiming …" : "Retrying …";
  if (requestState.phase === "waiting") return "Waiting …";
  if (requestState.phase === "given_up") return "No response yet";
  return CLOSED[state] ?? "Claim coupon";
}
