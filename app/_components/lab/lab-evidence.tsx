"use client";

import { LabLink } from "@/app/_components/ui/lab-link";
import { type EvidenceState, useEvidence } from "@/app/_hooks/use-evidence";
import { plural } from "@/app/_lib/format";
import type { RunDocument } from "@/lib/runs/document";
import { Evidence } from "../timeline/evidence";
import button from "../ui/button.module.css";
import styles from "./lab-evidence.module.css";

/** Limit for reading evidence without a click: larger histories are read on the run's page only. */
const MAX_OPERATIONS = 20_000;

interface LabEvidenceProps {
  /** Null while the lab has not opened the run yet. */
  readonly document: RunDocument | null;
  readonly nodes: readonly string[];
}

/** The evidence, loaded when the run has ended. Most of its space is reserved from the start, so that the page keeps its height. */
export function LabEvidence({ document, nodes }: LabEvidenceProps) {
  const hasEnded = document !== null && document.status !== "running";
  const isTooLarge = hasEnded && document.counts.requests > MAX_OPERATIONS;
  const { state, retry } = useEvidence(hasEnded && !isTooLarge ? document.id : null);
  const isLoaded = state.phase === "ready" && state.runId === document?.id;
  return (
    <div className={styles.place} style={{ "--lanes": nodes.length } as React.CSSProperties} data-ended={hasEnded}>
      {hasEnded && isLoaded ? (
        <Evidence key={state.runId} runId={state.runId} opening={state.opening} isOwnPage={false} />
      ) : (
        <Outline nodes={nodes}>
          {hasEnded ? (
            <EvidencePending document={document} isTooLarge={isTooLarge} state={state} onRetry={retry} />
          ) : (
            "Shown when the last buyer has a response: the lab reads it from the recorded history."
          )}
        </Outline>
      )}
    </div>
  );
}

interface EvidencePendingProps {
  readonly document: RunDocument;
  readonly isTooLarge: boolean;
  readonly state: EvidenceState;
  readonly onRetry: () => void;
}

function EvidencePending({ document, isTooLarge, state, onRetry }: EvidencePendingProps) {
  const purchases = plural(document.counts.requests, "recorded purchase");
  if (isTooLarge) {
    return (
      <>
        {purchases} take several seconds to read. <LabLink href={`/runs/${document.id}`}>Open the run's page</LabLink>{" "}
        to see them.
      </>
    );
  }
  if (state.phase !== "failed") return `Reading ${purchases} …`;
  return (
    <>
      {state.message}{" "}
      <button type="button" className={button.link} onClick={onRetry}>
        Try again
      </button>
    </>
  );
}

/** Empty lanes that reserve the timeline's space. */
function Outline({ nodes, children }: { nodes: readonly string[]; children: React.ReactNode }) {
  return (
    <section className={styles.outline} aria-label="How it happened">
      <h2>Critical sections by node</h2>
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
