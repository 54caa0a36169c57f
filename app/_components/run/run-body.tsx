import type { ReactNode } from "react";
import type { RunModel } from "@/app/_lib/run-model";
import { CheckList } from "./check-list";
import { FigureRow } from "./figure-row";
import { NodeTable } from "./node-table";
import styles from "./run-body.module.css";
import { VerdictHead } from "./verdict-head";

interface RunBodyProps {
  readonly model: RunModel;
  /** Timeline, interleaving and findings. */
  readonly evidence: ReactNode;
  /** Charts over time. */
  readonly charts: ReactNode;
  /** In the Lab the evidence comes after the charts and tables, so that it does not move them when it appears. */
  readonly evidenceLast?: boolean;
  /** The full list of checks, which replaces the short list on the page of an ended run. */
  readonly checks?: ReactNode;
}

/** Body of a run: verdict, main figures, evidence, charts. Shared by the Lab and the run's page. */
export function RunBody({ model, evidence, charts, checks, evidenceLast = false }: RunBodyProps) {
  const { figures } = model;
  return (
    <>
      <VerdictHead key={model.key} model={model} />
      <FigureRow figures={figures} />
      {evidenceLast ? null : evidence}
      {charts}
      <div className={checks ? undefined : styles.tables}>
        <NodeTable rows={model.nodeRows} running={model.pending} answers={model.answers} />
        {checks ? null : <CheckList checks={model.checks} pending={model.pending} tone={figures.tone} />}
      </div>
      {checks}
      {evidenceLast ? evidence : null}
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
