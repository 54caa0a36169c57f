"use client";

import { useEffect, useMemo, useRef, useState } from "react";
import { useExplained } from "@/app/_hooks/use-explained";
import { useTimeline } from "@/app/_hooks/use-timeline";
import { type EvidenceLink, withEvidenceLink } from "@/app/_lib/evidence-link";
import { groupFindings, kindWords } from "@/app/_lib/finding-words";
import { clampRange, rangeAround, type TimeRange } from "@/app/_lib/timeline-view";
import type { Interleaving as Lines } from "@/lib/history/interleaving";
import type { ExplainedFinding, NamedFinding, TimelineFault } from "@/lib/runs/evidence";
import styles from "./evidence.module.css";
import { FindingList } from "./finding-list";
import { HolderTimeline } from "./holder-timeline";
import { Interleaving } from "./interleaving";

export interface EvidenceProps {
  readonly runId: string;
  readonly verdict: "safe" | "unsafe" | "inconclusive";
  readonly violations: Readonly<Record<string, number>>;
  readonly lanes: readonly string[];
  readonly depths: readonly number[];
  readonly hasHolds: boolean;
  readonly endUs: number;
  readonly faults: readonly TimelineFault[];
  readonly findings: readonly NamedFinding[];
  /** The finding the page opens with; null where there is none. */
  readonly first: ExplainedFinding | null;
  readonly ordinary: { readonly interleaving: Lines; readonly spans: readonly number[] };
  /** What the address asks for, or where the first finding is. */
  readonly firstRange: TimeRange;
}

/** After the last change of the view, so that a drag is one entry in nobody's history. */
const ADDRESS_AFTER_MS = 250;

function useAddress(link: EvidenceLink, endUs: number, isTouched: boolean): void {
  const { finding, range } = link;
  useEffect(() => {
    if (!isTouched) return;
    const timer = setTimeout(() => {
      window.history.replaceState(null, "", withEvidenceLink(window.location.href, { finding, range }, endUs));
    }, ADDRESS_AFTER_MS);
    return () => clearTimeout(timer);
  }, [finding, range, endUs, isTouched]);
}

function placeWords(findings: readonly NamedFinding[], chosen: NamedFinding, counts: EvidenceProps["violations"]) {
  const same = findings.filter(({ kind }) => kind === chosen.kind);
  const count = Math.max(same.length, counts[chosen.kind] ?? 0);
  return `${kindWords(chosen.kind, 1)} ${same.indexOf(chosen) + 1} of ${count}`;
}

interface StepperProps {
  readonly findings: readonly NamedFinding[];
  readonly chosen: NamedFinding;
  readonly counts: EvidenceProps["violations"];
  readonly onChoose: (name: string) => void;
}

function Stepper({ findings, chosen, counts, onChoose }: StepperProps) {
  const at = findings.indexOf(chosen);
  const before = findings[at - 1];
  const after = findings[at + 1];
  return (
    <p className={styles.place}>
      {placeWords(findings, chosen, counts)}{" "}
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

function ordinaryWords({ verdict, hasHolds, ordinary }: EvidenceProps): string {
  const { actors } = ordinary.interleaving;
  const found = verdict === "safe" ? "No violation was found." : "No violation stands in the history.";
  if (actors.length === 0) return `${found} Nobody got inside.`;
  if (actors.length === 1) return `${found} The first buyer who was served:`;
  return `${found} The first ${actors.length} buyers who were served${hasHolds ? ", each in turn" : ""}:`;
}

/** The proof: who was inside, node by node, and in words how it came about. */
export function Evidence(props: EvidenceProps) {
  const { runId, findings, violations, endUs, ordinary } = props;
  const [name, setName] = useState<string | null>(props.first?.finding.name ?? null);
  const [range, setRange] = useState(props.firstRange);
  const [isTouched, setTouched] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const timeline = useTimeline(runId);
  const { explained, problem } = useExplained(runId, name, props.first);
  const groups = useMemo(() => groupFindings(findings), [findings]);
  useAddress({ finding: name, range }, endUs, isTouched);

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
  const show = (next: TimeRange) => {
    setTouched(true);
    setRange(clampRange(next, endUs));
  };
  // Until its lines are there, what was read before stays whole.
  const finding = explained ? findings.find((one) => one.name === explained.finding.name) : undefined;
  const lines = explained?.interleaving ?? (name === null ? ordinary.interleaving : undefined);
  const caption = explained?.finding.sentence ?? (name === null ? ordinaryWords(props) : "");
  const hasMore = lines?.steps.some(({ isDetail }) => isDetail) ?? false;
  return (
    <section className={styles.grid} aria-label="How it happened" data-testid="evidence">
      <div className={styles.timeline}>
        <HolderTimeline
          {...props}
          timeline={timeline}
          hasMarks={findings.some(({ isViolation }) => isViolation)}
          range={range}
          chosen={explained?.spans ?? (name === null ? ordinary.spans : [])}
          isAlarm={finding?.isViolation ?? false}
          onRange={show}
        />
      </div>
      <section className={styles.lines} aria-label="The interleaving" data-testid="interleaving">
        <header className={styles.head}>
          <h2>{name === null ? "An ordinary stretch" : "The interleaving"}</h2>
          {finding ? <Stepper findings={findings} chosen={finding} counts={violations} onChoose={choose} /> : null}
        </header>
        <p className={styles.sentence}>{problem ?? caption}</p>
        {lines ? <Interleaving lines={lines} isWhole={isWhole} caption={caption} /> : null}
        {hasMore ? (
          <label className={styles.whole}>
            <input type="checkbox" checked={isWhole} onChange={(event) => setWhole(event.target.checked)} /> every step
          </label>
        ) : null}
      </section>
      {findings.length > 0 ? (
        <div className={styles.list}>
          <FindingList groups={groups} counts={violations} chosen={name} onChoose={choose} />
        </div>
      ) : null}
    </section>
  );
}
