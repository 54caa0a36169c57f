import { formatCount, NO_VALUE } from "@/app/_lib/format";
import type { Figures } from "@/app/_lib/run-view";
import { TONE_WORDS, type Tone } from "@/app/_lib/verdict";
import { StockBar } from "./stock-bar";
import styles from "./verdict-head.module.css";

interface VerdictHeadProps {
  readonly tone: Tone;
  readonly figures: Figures | null;
  readonly lead: string;
  /** Facts under the bar: why one may believe it. */
  readonly evidence: readonly string[];
}

/** The one number a visitor came for, the verdict as a sentence, and the bar. Its height holds still while running. */
export function VerdictHead({ tone, figures, lead, evidence }: VerdictHeadProps) {
  const oversold = figures?.oversold ?? null;
  const alarm = oversold !== null && oversold > 0;
  const shown = tone === "opening" || tone === "failed" || oversold === null ? NO_VALUE : formatCount(oversold);
  return (
    <section className={styles.head} data-tone={tone} data-alarm={alarm} aria-label="Verdict">
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
          <strong>{TONE_WORDS[tone]}.</strong> {lead}
        </p>
        <StockBar initial={figures?.initial ?? 1} orders={figures?.orders ?? 0} oversold={oversold ?? 0} />
        <p className={styles.evidence}>{evidence.join(" · ")}</p>
      </div>
    </section>
  );
}
