import { formatCount, NO_VALUE } from "@/app/_lib/format";
import type { PreparationStep } from "@/app/_lib/live-run";
import type { RunModel } from "@/app/_lib/run-model";
import { TONE_TEXT } from "@/app/_lib/verdict";
import { StockBar } from "./stock-bar";
import styles from "./verdict-head.module.css";

/** What is done until the first purchase: one line in place of the evidence. */
function Preparation({ steps }: { steps: readonly PreparationStep[] }) {
  return (
    <ol className={styles.steps} aria-label="Preparation" data-testid="preparation">
      {steps.map(({ label, state }) => (
        <li key={label} data-state={state} aria-current={state === "current" ? "step" : undefined}>
          {state === "done" ? <span aria-hidden="true">✓ </span> : null}
          {label}
          {state === "done" ? <span className="visually-hidden">, done</span> : null}
        </li>
      ))}
    </ol>
  );
}

function Evidence({ evidence, faults }: Pick<RunModel, "evidence" | "faults">) {
  return (
    <p className={styles.evidence}>
      {faults.map((fault) => (
        <span key={fault} className={styles.fault} data-testid="live-fault">
          {fault}
        </span>
      ))}
      {faults.length === 0 ? evidence.join(" · ") : null}
    </p>
  );
}

/** The oversold count, the verdict sentence and the stock bar, at a fixed height while the sale runs. */
export function VerdictHead({ model }: { model: RunModel }) {
  const { figures, lead, preparation } = model;
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
        {preparation === null ? (
          <Evidence evidence={model.evidence} faults={model.faults} />
        ) : (
          <Preparation steps={preparation} />
        )}
      </div>
    </section>
  );
}
