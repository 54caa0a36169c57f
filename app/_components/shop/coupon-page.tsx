"use client";

import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import { usePolled } from "@/app/_hooks/shop/use-polled";
import { usePursuit } from "@/app/_hooks/shop/use-pursuit";
import { meaningOf } from "@/app/_lib/shop/answer";
import { couponState, type OfferState } from "@/app/_lib/shop/offer";
import { isUnderWay, type Pursuit } from "@/app/_lib/shop/pursue";
import { couponWords } from "@/app/_lib/shop/words";
import type { ShopCoupon } from "@/lib/shop/api";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import styles from "./buy-box.module.css";
import { OfferHead } from "./offer-head";
import { OpeningControl } from "./opening-control";
import { PursuitNote } from "./pursuit-note";
import { ServedBy } from "./served-by";
import { ShopFrame } from "./shop-frame";
import { useShop } from "./shop-provider";

const LOOK_EVERY_MS = 1_500;
const TICK_MS = 200;

interface CouponPageProps {
  readonly initial: { readonly coupon: ShopCoupon };
  readonly runId: string | null;
  readonly renderedAtEpochMs: number;
}

/** One coupon, one click, one each. */
export function CouponPage({ initial, runId, renderedAtEpochMs }: CouponPageProps) {
  const { mine } = useShop();
  const { id } = initial.coupon;
  const polled = usePolled({ path: `/api/coupons/${id}`, everyMs: LOOK_EVERY_MS, initial });
  const { coupon } = polled.value;
  const now = useLabNow(renderedAtEpochMs, coupon.opensAtEpochMs === null ? null : TICK_MS);
  const pursuing = usePursuit({
    name: `coupon-${id}`,
    namesBuyer: true,
    onSettled: () => {
      void mine.refresh();
      void polled.refresh();
    },
  });
  const { pursuit } = pursuing;
  const claim = mine.value?.claims.find(({ couponId }) => couponId === id);
  const isDone = pursuit.phase === "settled" && meaningOf(pursuit.last) === "done";
  const wasRefused = pursuit.phase === "settled" && pursuit.last.code === "already_claimed";
  const state = couponState(coupon, claim !== undefined || isDone || wasRefused, now);
  const isBusy = isUnderWay(pursuit) || pursuit.phase === "given_up";
  return (
    <ShopFrame
      title={<code>{coupon.code}</code>}
      lead={
        runId === null ? (
          coupon.name
        ) : (
          <>
            Made by run <LabLink href={`/runs/${runId}`}>{runId}</LabLink> for itself.
          </>
        )
      }
    >
      <OfferHead
        offer={coupon}
        state={state}
        now={now}
        price={`−${coupon.discountPercent} %`}
        sentence={couponWords(state)}
      >
        <div className={styles.line}>
          <button
            type="button"
            className={`${button.primary} ${styles.buy}`}
            disabled={isBusy || state !== "open"}
            onClick={() => pursuing.want(`/api/coupons/${id}/claim`, {})}
            data-testid="claim"
          >
            {labelOf(pursuit, state)}
          </button>
        </div>
        <PursuitNote pursuing={pursuing} done="It is yours." />
        {pursuit.phase === "idle" ? null : <ServedBy answer={pursuit.last} />}
        {pursuit.phase === "idle" && claim !== undefined ? (
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
  sold_out: "None left",
  already_claimed: "Claimed",
};

function labelOf(pursuit: Pursuit, state: OfferState): string {
  if (pursuit.phase === "sending") return pursuit.tries === 1 ? "Claiming …" : "Asking again …";
  if (pursuit.phase === "waiting") return "Waiting …";
  if (pursuit.phase === "given_up") return "Not answered yet";
  return CLOSED[state] ?? "Claim it";
}
