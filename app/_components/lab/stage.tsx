"use client";

import Link from "next/link";
import type { Lab } from "@/app/_hooks/use-lab";
import { settingsLine } from "@/app/_lib/compare-rows";
import { durationWords } from "@/app/_lib/format";
import type { RunView } from "@/app/_lib/run-view";
import type { RunDocument, RunSample } from "@/lib/runs/document";
import { RunBody } from "../run/run-body";
import { VerdictHead } from "../run/verdict-head";
import button from "../ui/button.module.css";
import { When } from "../ui/when";
import { EmptyStage } from "./empty-stage";
import styles from "./stage.module.css";

/** The right side: the run that is going on, else the last one of the chosen strategy, else the invitation to run one. */
export function Stage({ lab }: { lab: Lab }) {
  const { view, lastRuns } = lab;
  if (view.phase === "opening") return <OpeningStage />;
  const document = view.document ?? lastRuns.run;
  if (document === null) return <EmptyStage lab={lab} />;
  const samples = view.document === null ? lastRuns.samples : view.samples;
  return (
    <article className={styles.stage} data-testid="stage" data-status={document.status} data-run={document.id}>
      <RunLine document={document} samples={samples} isLast={view.document === null} />
      <StreamNotice view={view} onReconnect={lab.reconnect} />
      <RunBody document={document} samples={samples} />
    </article>
  );
}

interface RunLineProps {
  readonly document: RunDocument;
  readonly samples: readonly RunSample[];
  /** Not run on this page just now. */
  readonly isLast: boolean;
}

/** Which run this is, with what settings; always one line, so that nothing moves when it finishes. */
function RunLine({ document, samples, isLast }: RunLineProps) {
  const running = document.status === "running";
  return (
    <header className={styles.line}>
      <p>
        <code>{document.strategy}</code> <span>{settingsLine(document.config)}</span>
      </p>
      <p className={styles.state}>
        {running ? (
          <>
            <span className={styles.pulse} aria-hidden="true" />
            <span className="mono">{durationWords(samples.at(-1)?.atMs ?? 0)}</span>
          </>
        ) : (
          <>
            {isLast ? "last run " : "finished "}
            <When epochMs={document.startedAtEpochMs} /> <Link href={`/runs/${document.id}`}>Open this run</Link>
          </>
        )}
      </p>
    </header>
  );
}

function StreamNotice({ view, onReconnect }: { view: RunView; onReconnect: () => void }) {
  if (view.phase !== "running" || view.stream === "open" || view.stream === "closed") return null;
  return (
    <p className={styles.notice} role="status">
      {view.stream === "lost" ? (
        "The connection to the lab is lost; reconnecting. The sale goes on, and what was missed comes with the new connection."
      ) : (
        <>
          The lab has been out of reach for a minute.{" "}
          <button type="button" className={button.link} onClick={onReconnect}>
            Try again
          </button>
        </>
      )}
    </p>
  );
}

function OpeningStage() {
  return (
    <article className={styles.stage} data-testid="stage" data-status="opening">
      <header className={styles.line}>
        <p>Every store node is being told the strategy and the settings.</p>
      </header>
      <VerdictHead
        tone="opening"
        figures={null}
        lead="The sale starts once every store node has acknowledged it."
        evidence={[]}
      />
    </article>
  );
}
