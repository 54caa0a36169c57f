"use client";

import { useEffect, useMemo, useRef, useState } from "react";
import { useExplained } from "@/app/_hooks/use-explained";
import { useTimeline } from "@/app/_hooks/use-timeline";
import { type EvidenceParams, withEvidenceParams } from "@/app/_lib/evidence-url";
import { groupFindings, kindText } from "@/app/_lib/finding-text";
import type { InitialEvidence } from "@/app/_lib/initial-evidence";
import { clampRange, rangeAround, type TimeRange } from "@/app/_lib/timeline-view";
import type { NamedFinding } from "@/lib/runs/evidence";
import styles from "./evidence.module.css";
import { FindingList } from "./finding-list";
import { useSelectedFinding } from "./finding-selection";
import { EmptyTimeline, HolderTimeline } from "./holder-timeline";
import { Interleaving } from "./interleaving";

export interface EvidenceProps {
  readonly runId: string;
  readonly opening: InitialEvidence;
  /** The page is this run's: all findings are listed, and what is in view is written to the address. */
  readonly isOwnPage: boolean;
}

/** After the last change of the view, so that a drag is one entry in nobody's history. */
const ADDRESS_AFTER_MS = 250;

function useAddress(link: EvidenceParams, endUs: number, isTouched: boolean): void {
  const { finding, range } = link;
  useEffect(() => {
    if (!isTouched) return;
    const timer = setTimeout(() => {
      window.history.replaceState(null, "", withEvidenceParams(window.location.href, { finding, range }, endUs));
    }, ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [finding, range, endUs, isTouched]);
}

function positionText(findings: readonly NamedFinding[], chosen: NamedFinding, counts: InitialEvidence["violations"]) {
  const same = findings.filter(({ kind }) => kind === chosen.kind);
  const count = Math.max(same.length, counts[chosen.kind] ?? 0);
  return `${kindText(chosen.kind, 1)} ${same.indexOf(chosen) + 1} of ${count}`;
}

interface StepperProps {
  readonly findings: readonly NamedFinding[];
  readonly chosen: NamedFinding;
  readonly counts: InitialEvidence["violations"];
  readonly onChoose: (name: string) => void;
}

function Stepper({ findings, chosen, counts, onChoose }: StepperProps) {
  const at = findings.indexOf(chosen);
  const before = findings[at - 1];
  const after = findings[at + 1];
  return (
    <p className={styles.place}>
      {positionText(findings, chosen, counts)}{" "}
      <button
        type="button"
        aria-label="Finding before"
        disabled={!before}
        onClick={() => before && onChoose(before.name)}
      >
        ‹
      </button>
      <button type="button" aria-label="Next finding" disabled={!after} onClick={() => after && onChoose(after.name)}>
        ›
      </button>
    </p>
  );
}

function ordinaryText({ verdict, hasHolds, ordinary }: InitialEvidence): string {
  const { actors } = ordinary.interleaving;
  const found = verdict === "safe" ? "No violation was found." : "No violation stands in the history.";
  if (actors.length === 0) return `${found} Nobody got inside.`;
  if (actors.length === 1) return `${found} The first buyer who was served:`;
  return `${found} The first ${actors.length} buyers who were served${hasHolds ? ", each in turn" : ""}:`;
}

/** The proof: who was inside, node by node, and in words how it came about. */
export function Evidence({ runId, opening, isOwnPage }: EvidenceProps) {
  const { findings, violations, endUs, first, ordinary } = opening;
  const [name, setName] = useState<string | null>(first?.finding.name ?? null);
  const [range, setRange] = useState(opening.firstRange);
  const [isTouched, setTouched] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const timeline = useTimeline(runId);
  const { explained, problem } = useExplained(runId, name, first);
  const groups = useMemo(() => groupFindings(findings), [findings]);
  useAddress({ finding: name, range }, endUs, isOwnPage && isTouched);

  // Whoever chooses a finding wants to see it; until then the view is what the address or the page opened with.
  const wanted = useRef<string | null>(null);
  const spans = timeline.phase === "ready" ? timeline.spans : null;
  useEffect(() => {
    if (!spans || !explained || wanted.current !== explained.finding.name) return;
    wanted.current = null;
    const around = rangeAround(spans, explained.spans, endUs);
    if (around) setRange(around);
  }, [spans, explained, endUs]);

  const choose = (next: string) => {
    setTouched(true);
    wanted.current = next;
    setName(next);
    // Chosen again, it comes back into view; its lines are here already.
    if (next === name && spans && explained) setRange(rangeAround(spans, explained.spans, endUs) ?? range);
  };
  const section = useRef<HTMLElement>(null);
  useSelectedFinding((asked) => {
    if (!findings.some((one) => one.name === asked)) return;
    choose(asked);
    section.current?.scrollIntoView({ block: "start" });
    section.current?.focus({ preventScroll: true });
  });
  const show = (next: TimeRange) => {
    setTouched(true);
    setRange(clampRange(next, endUs));
  };
  // Until its lines are there, what was read before stays whole.
  const finding = explained ? findings.find((one) => one.name === explained.finding.name) : undefined;
  const lines = explained?.interleaving ?? (name === null ? ordinary.interleaving : undefined);
  const caption = explained?.finding.sentence ?? (name === null ? ordinaryText(opening) : "");
  const hasMore = lines?.steps.some(({ isDetail }) => isDetail) ?? false;
  return (
    <section
      ref={section}
      id="evidence"
      tabIndex={-1}
      className={styles.grid}
      aria-label="How it happened"
      data-testid="evidence"
    >
      <div className={styles.timeline}>
        {opening.lanes.length === 0 ? (
          <EmptyTimeline />
        ) : (
          <HolderTimeline
            {...opening}
            timeline={timeline}
            hasMarks={findings.some(({ isViolation }) => isViolation)}
            range={range}
            chosen={explained?.spans ?? (name === null ? ordinary.spans : [])}
            isAlarm={finding?.isViolation ?? false}
            onRange={show}
          />
        )}
      </div>
      <section className={styles.lines} aria-label="The interleaving" data-testid="interleaving">
        <header className={styles.head}>
          <h2>{name === null ? "An ordinary stretch" : "The interleaving"}</h2>
          {finding ? <Stepper findings={findings} chosen={finding} counts={violations} onChoose={choose} /> : null}
        </header>
        <p className={styles.sentence}>{problem ?? caption}</p>
        {lines ? <Interleaving lines={lines} isWhole={isWhole} caption={caption} /> : null}
        {hasMore ? (
          <label className={styles.whole} data-print="no">
            <input type="checkbox" checked={isWhole} onChange={(event) => setWhole(event.target.checked)} /> every step
          </label>
        ) : null}
      </section>
      {isOwnPage && findings.length > 0 ? (
        <div className={styles.list}>
          <FindingList groups={groups} counts={violations} chosen={name} onChoose={choose} />
        </div>
      ) : null}
    </section>
  );
}
