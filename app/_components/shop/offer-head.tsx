import type { ReactNode } from "react";
import { formatCount } from "@/app/_lib/format";
import { countdownText, spokenCountdown } from "@/app/_lib/shop/countdown";
import { type Offer, type OfferState, STATE_TEXT } from "@/app/_lib/shop/offer";
import styles from "./offer-head.module.css";

interface OfferHeadProps {
  readonly offer: Offer;
  readonly state: OfferState;
  readonly now: number;
  readonly price: string;
  /** Follows the state's word. */
  readonly sentence: string;
  readonly children: ReactNode;
}

/** Stock left, or the time until the sale opens, with price, state and actions. */
export function OfferHead({ offer, state, now, price, sentence, children }: OfferHeadProps) {
  const isClosed = state === "not_open" && offer.opensAtEpochMs !== null;
  const leftMs = isClosed ? (offer.opensAtEpochMs ?? now) - now : 0;
  const shown = isClosed ? countdownText(leftMs) : formatCount(Math.max(0, offer.stock));
  return (
    <section className={styles.head} data-state={state} aria-label="On sale">
      <div>
        <p className={styles.label} id="offer-figure">
          {isClosed ? "Opens in" : "In stock"}
        </p>
        <output
          className={styles.number}
          data-length={Math.min(shown.length, 8)}
          data-testid="left"
          aria-labelledby="offer-figure"
          aria-live="off"
        >
          {shown}
        </output>
      </div>
      <div className={styles.words}>
        <p className={styles.price}>{price}</p>
        <p className={styles.sentence} data-testid="offer-state">
          <strong>{STATE_TEXT[state]}.</strong> {sentence}
        </p>
        <p className="visually-hidden" role="status">
          {isClosed ? `Opens ${spokenCountdown(leftMs)}.` : `${STATE_TEXT[state]}.`}
        </p>
        {children}
      </div>
    </section>
  );
}
