import { formatCount, NO_VALUE } from "@/app/_lib/format";
import type { Figures } from "@/app/_lib/run-view";
import { TONE_TEXT } from "@/app/_lib/verdict";
import { StockBar } from "./stock-bar";
import styles from "./verdict-head.module.css";

interface VerdictHeadProps {
  readonly figures: Figures;
  readonly lead: string;
  readonly evidence: readonly string[];
}

/** The oversold count, the verdict sentence and the stock bar, at a fixed height while the sale runs. */
export function VerdictHead({ figures, lead, evidence }: VerdictHeadProps) {
  const { tone, oversold } = figures;
  // A failed run was not judged, but what it oversold is still oversold.
  const isJudged = tone !== "failed" || oversold > 0;
  const shown = isJudged ? formatCount(oversold) : NO_VALUE;
  return (
    <section className={styles.head} data-tone={tone} data-alarm={oversold > 0} aria-label="Verdict">
      <div className={styles.figure}>
        <p className={styles.label} id="oversold-label">
          Oversold
        </p>
        <output
          className={styles.number}
          data-length={Math.min(shown.length, 7)}
          data-testid="oversold"
          aria-labelledby="oversold-label"
          aria-live="off"
        >
          {shown}
        </output>
      </div>
      <div className={styles.words}>
        <p className={styles.sentence} data-testid="verdict">
          <span>
            <strong>{TONE_TEXT[tone]}.</strong> {lead}
          </span>
        </p>
        <StockBar initial={figures.initial} orders={figures.orders} oversold={isJudged ? oversold : null} />
        <p className={styles.evidence}>{evidence.join(" · ")}</p>
      </div>
    </section>
  );
}
