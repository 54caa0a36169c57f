import type { RunModel } from "@/app/_lib/run-model";
import { PhaseChart, StockChart } from "../chart/run-charts";
import { CheckList } from "./check-list";
import { FigureRow } from "./figure-row";
import { NodeTable } from "./node-table";
import styles from "./run-body.module.css";
import { VerdictHead } from "./verdict-head";

/** A run from *what* to *why*: the verdict, the six figures, time, the proof. The Lab and a run's own page share it. */
export function RunBody({ model }: { model: RunModel }) {
  const { figures, samples } = model;
  return (
    <>
      <VerdictHead key={model.key} figures={figures} lead={model.lead} evidence={model.evidence} />
      <FigureRow figures={figures} />
      <div className={styles.charts}>
        <StockChart initial={figures.initial} samples={samples} />
        <PhaseChart samples={samples} />
      </div>
      <div className={styles.proof}>
        <NodeTable rows={model.nodeRows} running={model.pending} answers={model.answers} />
        <CheckList checks={model.checks} pending={model.pending} />
      </div>
      {model.rest.length > 0 ? (
        <section className={styles.more} aria-label="More about the verdict">
          <h2>More about the verdict</h2>
          <ul>
            {model.rest.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  );
}
