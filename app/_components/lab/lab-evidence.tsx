"use client";

import { LabLink } from "@/app/_components/ui/lab-link";
import { type EvidenceState, useEvidence } from "@/app/_hooks/use-evidence";
import { plural } from "@/app/_lib/format";
import type { RunDocument } from "@/lib/runs/document";
import { Evidence } from "../timeline/evidence";
import button from "../ui/button.module.css";
import styles from "./lab-evidence.module.css";

/** More are read on the run's own page, where one asked for them. */
const MOST_READ = 20_000;

interface LabEvidenceProps {
  /** Null while the lab has not opened the run yet. */
  readonly document: RunDocument | null;
  readonly nodes: readonly string[];
}

/** The proof under the charts, read when the run has ended. Its place is kept from the start, so that nothing moves. */
export function LabEvidence({ document, nodes }: LabEvidenceProps) {
  const hasEnded = document !== null && document.status !== "running";
  const isTooMuch = hasEnded && document.counts.requests > MOST_READ;
  const { state, again } = useEvidence(hasEnded && !isTooMuch ? document.id : null);
  const isHere = state.phase === "ready" && state.runId === document?.id;
  return (
    <div className={styles.place} style={{ "--lanes": nodes.length } as React.CSSProperties} data-ended={hasEnded}>
      {hasEnded && isHere ? (
        <Evidence key={state.runId} runId={state.runId} opening={state.opening} isOwnPage={false} />
      ) : (
        <Outline nodes={nodes}>
          {hasEnded ? (
            <Waiting document={document} isTooMuch={isTooMuch} state={state} onAgain={again} />
          ) : (
            "Read from the record, when the last buyer has been answered."
          )}
        </Outline>
      )}
    </div>
  );
}

interface WaitingProps {
  readonly document: RunDocument;
  readonly isTooMuch: boolean;
  readonly state: EvidenceState;
  readonly onAgain: () => void;
}

function Waiting({ document, isTooMuch, state, onAgain }: WaitingProps) {
  const purchases = plural(document.counts.requests, "recorded purchase");
  if (isTooMuch) {
    return (
      <>
        {purchases} take a moment to be read:{" "}
        <LabLink href={`/runs/${document.id}`}>see them on the run's page</LabLink>.
      </>
    );
  }
  if (state.phase !== "failed") return `Reading ${purchases} …`;
  return (
    <>
      {state.message}{" "}
      <button type="button" className={button.link} onClick={onAgain}>
        Try again
      </button>
    </>
  );
}

/** What is to come, as empty lanes: the eye finds them filled where it saw them empty. */
function Outline({ nodes, children }: { nodes: readonly string[]; children: React.ReactNode }) {
  return (
    <section className={styles.outline} aria-label="How it happened">
      <h2>Who was inside, node by node</h2>
      <p className={styles.note} role="status">
        {children}
      </p>
      <ol className={styles.lanes} aria-hidden="true">
        {nodes.map((node) => (
          <li key={node}>{node}</li>
        ))}
      </ol>
    </section>
  );
}
