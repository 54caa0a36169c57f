"use client";

import { useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { useExplained } from "@/app/_hooks/use-explained";
import { useTimeline } from "@/app/_hooks/use-timeline";
import { type EvidenceParams, withEvidenceParams } from "@/app/_lib/evidence-url";
import { alarmedSpans, findingTitle, groupFindings, positionText } from "@/app/_lib/finding-text";
import type { InitialEvidence } from "@/app/_lib/initial-evidence";
import { clampRange, rangeAround, type TimeRange } from "@/app/_lib/timeline-view";
import type { NamedFinding } from "@/lib/runs/evidence";
import { Story } from "../story/story";
import { AllStepsToggle } from "./all-steps-toggle";
import styles from "./evidence.module.css";
import { FindingList } from "./finding-list";
import { useSelectedFinding } from "./finding-selection";
import { EmptyTimeline, HolderTimeline } from "./holder-timeline";
import { Interleaving } from "./interleaving";

export interface EvidenceProps {
  readonly runId: string;
  readonly opening: InitialEvidence;
  /** The run's own page: it lists all findings and mirrors the view in the URL. */
  readonly isOwnPage: boolean;
}

/** Debounce of URL updates while the user drags or zooms. */
const URL_UPDATE_DELAY_MS = 250;

function useEvidenceUrl(link: EvidenceParams, endUs: number, isTouched: boolean): void {
  const { finding, range } = link;
  useEffect(() => {
    if (!isTouched) return;
    const timer = setTimeout(() => {
      window.history.replaceState(null, "", withEvidenceParams(window.location.href, { finding, range }, endUs));
    }, URL_UPDATE_DELAY_MS);
    return () => clearTimeout(timer);
  }, [finding, range, endUs, isTouched]);
}

const NONE: readonly number[] = [];

interface StepperProps {
  readonly findings: readonly NamedFinding[];
  readonly chosen: NamedFinding;
  readonly onChoose: (name: string) => void;
}

function Stepper({ findings, chosen, onChoose }: StepperProps) {
  const at = findings.indexOf(chosen);
  const previous = findings[at - 1];
  const next = findings[at + 1];
  return (
    <p className={styles.place}>
      {positionText(findings, chosen)}{" "}
      <button
        type="button"
        aria-label="Previous finding"
        disabled={!previous}
        onClick={() => previous && onChoose(previous.name)}
      >
        ‹
      </button>
      <button type="button" aria-label="Next finding" disabled={!next} onClick={() => next && onChoose(next.name)}>
        ›
      </button>
    </p>
  );
}

/** Without a violation to show: what the history proves, and what the page shows in its place. */
function noViolationText({ isFailed, verdict, hasHolds, story, ordinary }: InitialEvidence): string {
  const { actors } = (story ?? ordinary).interleaving;
  const unproven = isFailed ? "The run failed, so its history is not judged." : "The history contains no violation.";
  const found = verdict === "safe" && !isFailed ? "No violation was found." : unproven;
  if (actors.length === 0) return `${found} No purchase entered the critical section.`;
  if (story !== null) return `${found} The purchases of the story:`;
  if (actors.length === 1) return `${found} The first purchase in the critical section:`;
  return `${found} The first ${actors.length} purchases in the critical section${hasHolds ? ", one after the other" : ""}:`;
}

/** The evidence. That of a run with a fault is its story; the rest is folded unless a link selects a part of it. */
export function Evidence(props: EvidenceProps) {
  const { story, isLinked, findings } = props.opening;
  const [isOpen, setOpen] = useState(isLinked);
  if (story === null) return <Findings {...props} />;
  const rest = findings.length === 0 ? "Critical sections by node" : "All findings and critical sections by node";
  return (
    <div className={styles.told}>
      <Story story={story} />
      <details className={styles.rest} open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{rest}</summary>
        <Findings {...props} onShow={() => setOpen(true)} />
      </details>
    </div>
  );
}

interface FindingsProps extends EvidenceProps {
  /** Called before a link's finding is shown. */
  readonly onShow?: () => void;
}

/** Timeline of critical sections, interleaving of the selected finding, list of findings. */
function Findings({ runId, opening, isOwnPage, onShow }: FindingsProps) {
  const { findings, violations, endUs, first } = opening;
  const ordinary = opening.story ?? opening.ordinary;
  const [name, setName] = useState<string | null>(first?.finding.name ?? null);
  const [range, setRange] = useState(opening.firstRange);
  const [isTouched, setTouched] = useState(false);
  const [showsAllSteps, setShowsAllSteps] = useState(false);
  const timeline = useTimeline(runId);
  const { explained, problem } = useExplained(runId, name, first);
  const groups = useMemo(() => groupFindings(findings), [findings]);
  useEvidenceUrl({ finding: name, range }, endUs, isOwnPage && isTouched);

  // Selecting a finding moves the view to it; the initial view comes from the URL or the page.
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
    // The finding is already loaded: only move the view back to it.
    if (next === name && spans && explained) setRange(rangeAround(spans, explained.spans, endUs) ?? range);
  };
  const section = useRef<HTMLElement>(null);
  useSelectedFinding((requested) => {
    if (!findings.some((one) => one.name === requested)) return;
    choose(requested);
    // The section must be visible before the page scrolls to it.
    if (onShow) flushSync(onShow);
    section.current?.scrollIntoView({ block: "start" });
    section.current?.focus({ preventScroll: true });
  });
  const show = (next: TimeRange) => {
    setTouched(true);
    setRange(clampRange(next, endUs));
  };
  // While the new finding loads, the previous one stays visible.
  const finding = explained ? findings.find((one) => one.name === explained.finding.name) : undefined;
  const lines = explained?.interleaving ?? (name === null ? ordinary.interleaving : undefined);
  const caption = explained?.finding.sentence ?? (name === null ? noViolationText(opening) : "");
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
            hasHarmless={findings.some(({ kind }) => kind === "fencedOverlap")}
            range={range}
            selected={explained?.spans ?? (name === null ? ordinary.spans : [])}
            alarmed={explained === null || name === null ? NONE : alarmedSpans(explained)}
            onRange={show}
          />
        )}
      </div>
      <section className={styles.lines} aria-label="Interleaving" data-testid="interleaving">
        <header className={styles.head}>
          <h2>
            {name === null
              ? "How purchases took turns"
              : explained === null
                ? "Interleaving"
                : findingTitle(explained.finding)}
          </h2>
          {finding ? <Stepper findings={findings} chosen={finding} onChoose={choose} /> : null}
        </header>
        <p className={styles.sentence}>{problem ?? caption}</p>
        {lines ? <Interleaving lines={lines} showsAllSteps={showsAllSteps} caption={caption} /> : null}
        {hasMore ? <AllStepsToggle isOn={showsAllSteps} onChange={setShowsAllSteps} /> : null}
      </section>
      {isOwnPage && findings.length > 0 ? (
        <div className={styles.list}>
          <FindingList groups={groups} counts={violations} chosen={name} onChoose={choose} />
        </div>
      ) : null}
    </section>
  );
}
