import { figuresOf, nodeRowsOf } from "@/app/_lib/run-view";
import { runningWords } from "@/app/_lib/running-words";
import { answersOf, checksOf, evidenceOf, verdictWords } from "@/app/_lib/verdict";
import type { RunDocument, RunSample } from "@/lib/runs/document";
import { PhaseChart, StockChart } from "../chart/run-charts";
import { CheckList } from "./check-list";
import { FigureRow } from "./figure-row";
import { NodeTable } from "./node-table";
import styles from "./run-body.module.css";
import { VerdictHead } from "./verdict-head";

/** A run from *what* to *why*: the verdict, the six figures, time, the proof. The Lab and a run's own page share it. */
export function RunBody({ document, samples }: { document: RunDocument; samples: readonly RunSample[] }) {
  const running = document.status === "running";
  const figures = figuresOf(document, samples);
  const words = running ? { lead: runningWords(figures), rest: [] } : verdictWords(document);
  const counts = (running ? samples.at(-1)?.counts : undefined) ?? document.counts;
  return (
    <>
      <VerdictHead
        tone={figures.tone}
        figures={figures}
        lead={words.lead}
        evidence={running ? ["the checks follow when the last buyer is answered"] : evidenceOf(document)}
      />
      <FigureRow figures={figures} />
      <div className={styles.charts}>
        <StockChart initial={figures.initial} samples={samples} />
        <PhaseChart samples={samples} />
      </div>
      <div className={styles.proof}>
        <NodeTable rows={nodeRowsOf(document, samples)} running={running} answers={answersOf(counts)} />
        <CheckList checks={checksOf(document)} pending={running} />
      </div>
      {words.rest.length > 0 ? (
        <section className={styles.more} aria-label="More about the verdict">
          <h2>More about the verdict</h2>
          <ul>
            {words.rest.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </section>
      ) : null}
    </>
  );
}
