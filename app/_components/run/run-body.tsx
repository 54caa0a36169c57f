import type { ReactNode } from "react";
import type { RunModel } from "@/app/_lib/run-model";
import { CheckList } from "./check-list";
import { FigureRow } from "./figure-row";
import { NodeTable } from "./node-table";
import styles from "./run-body.module.css";
import { VerdictHead } from "./verdict-head";

interface RunBodyProps {
  readonly model: RunModel;
  /** Who was inside, and how it came about. */
  readonly evidence: ReactNode;
  /** The run over time. */
  readonly charts: ReactNode;
  /** Where the charts are being drawn while one looks on, they stay where they are and the proof comes below them. */
  readonly chartsFirst?: boolean;
  /** Every check in full, in place of the short list: on the page of a run that has ended. */
  readonly checks?: ReactNode;
}

/** A run from *what* to *why*: the verdict, the six figures, the proof, time. The Lab and a run's own page share it. */
export function RunBody({ model, evidence, charts, checks, chartsFirst = false }: RunBodyProps) {
  const { figures } = model;
  return (
    <>
      <VerdictHead key={model.key} figures={figures} lead={model.lead} evidence={model.evidence} />
      <FigureRow figures={figures} />
      {chartsFirst ? null : evidence}
      {charts}
      {chartsFirst ? evidence : null}
      <div className={checks ? undefined : styles.proof}>
        <NodeTable rows={model.nodeRows} running={model.pending} answers={model.answers} />
        {checks ? null : <CheckList checks={model.checks} pending={model.pending} />}
      </div>
      {checks}
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
