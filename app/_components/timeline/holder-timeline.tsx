"use client";

import { useState } from "react";
import type { TimelineState } from "@/app/_hooks/use-timeline";
import { formatCount, formatStepMs, plural } from "@/app/_lib/format";
import {
  markText,
  panRange,
  rangeText,
  type Spans,
  spansInView,
  type TimeRange,
  zoomRange,
} from "@/app/_lib/timeline-view";
import type { TimelineFault } from "@/lib/runs/evidence";
import { ChartFrame } from "../chart/chart-frame";
import { SpanTable } from "./span-table";
import styles from "./timeline.module.css";
import { canvasHeight, TimelineCanvas } from "./timeline-canvas";

export interface HolderTimelineProps {
  readonly timeline: TimelineState;
  readonly lanes: readonly string[];
  readonly depths: readonly number[];
  readonly hasHolds: boolean;
  /** At least one purchase is part of a violation. */
  readonly hasMarks: boolean;
  /** Fencing made at least one overlap harmless. */
  readonly hasHarmless: boolean;
  readonly endUs: number;
  readonly range: TimeRange;
  readonly faults: readonly TimelineFault[];
  readonly selected: readonly number[];
  /** Those of the selected spans that broke a rule. */
  readonly alarmed: readonly number[];
  readonly onRange: (range: TimeRange) => void;
}

const TITLE = "Critical sections by node";

function readout(spans: Spans, lanes: readonly string[], index: number): string {
  const read = spans.readValue[index] ?? null;
  const wrote = spans.writtenValue[index] ?? null;
  const parts = [
    `${lanes[spans.lane[index] ?? 0]} from ${formatStepMs(spans.fromUs[index] ?? 0)} ms for ${formatStepMs(spans.lengthUs[index] ?? 0)} ms`,
    ...(read === null ? [] : [`read ${read}`]),
    ...(wrote === null ? [] : [`wrote ${wrote}`]),
  ];
  const marks = markText(spans.marks[index] ?? 0);
  return `${parts.join(", ")}${marks === "" ? "" : `: ${marks}`}`;
}

function Zoom({ range, endUs, onRange }: Pick<HolderTimelineProps, "range" | "endUs" | "onRange">) {
  const buttons: readonly (readonly [text: string, label: string, next: TimeRange])[] = [
    ["←", "Earlier", panRange(range, -0.5, endUs)],
    ["→", "Later", panRange(range, 0.5, endUs)],
    ["−", "Zoom out", zoomRange(range, { factor: 2 }, endUs)],
    ["+", "Zoom in", zoomRange(range, { factor: 0.5 }, endUs)],
    ["all", "Show the whole run", { fromUs: 0, toUs: Math.max(1, endUs) }],
  ];
  return (
    <fieldset className={styles.zoom} aria-label="Visible time range" data-print="no">
      {buttons.map(([text, label, next]) => (
        <button key={label} type="button" aria-label={label} title={label} onClick={() => onRange(next)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

interface KeysProps extends Pick<HolderTimelineProps, "hasHolds" | "hasMarks" | "hasHarmless"> {
  readonly isAlarm: boolean;
}

function Keys({ hasHolds, isAlarm, hasMarks, hasHarmless }: KeysProps) {
  return (
    <ul className={styles.keys}>
      <li>
        <span className={styles.swatch} data-mark="inside" />
        {hasHolds ? "grant to release" : "read to commit"}
      </li>
      {hasMarks ? (
        <li>
          <span className={styles.swatch} data-mark="alarm" />
          {hasHolds ? "overlap, stale write or lost update" : "lost update"}
        </li>
      ) : null}
      {hasHarmless ? (
        <li>
          <span className={styles.swatch} data-mark="harmless" />
          overlap without effect
        </li>
      ) : null}
      <li>
        <span className={styles.swatch} data-mark="selected" />
        in the interleaving
      </li>
      {isAlarm ? (
        <li>
          <span className={styles.swatch} data-mark="selected-alarm" />
          caused the violation
        </li>
      ) : null}
    </ul>
  );
}

/** Replaces the timeline if no purchase was recorded. */
export function EmptyTimeline() {
  return (
    <>
      <h2>{TITLE}</h2>
      <p className="muted">No purchase was recorded.</p>
    </>
  );
}

/** One lane per node, one bar per purchase in the critical section. */
export function HolderTimeline(props: HolderTimelineProps) {
  const { timeline, lanes, endUs, range, onRange } = props;
  const [hovered, setHovered] = useState<number | null>(null);
  const spans = timeline.phase === "ready" ? timeline.spans : null;
  const inView = spans ? spansInView(spans, range).length : 0;
  const rangeLabel = `${rangeText(range)}, ${formatCount(inView)} of ${spans ? plural(spans.count, "purchase") : "…"}`;
  const waiting = timeline.phase === "failed" ? timeline.message : "Reading the recorded purchases …";
  return (
    <ChartFrame
      title={TITLE}
      controls={<Zoom range={range} endUs={endUs} onRange={onRange} />}
      unit={<span data-testid="range">{spans && hovered !== null ? readout(spans, lanes, hovered) : rangeLabel}</span>}
      height={canvasHeight(props)}
      table={
        spans ? <SpanTable spans={spans} lanes={lanes} range={range} caption={`${TITLE}: ${rangeLabel}`} /> : waiting
      }
      blank={spans ? null : waiting}
      testId="timeline"
      foot={
        <div className={styles.foot}>
          <Keys {...props} isAlarm={props.alarmed.length > 0} />
          <p data-print="no">
            drag, or click and use <kbd>←</kbd> <kbd>→</kbd> <kbd>+</kbd> <kbd>−</kbd> <kbd>Home</kbd> or the wheel
          </p>
        </div>
      }
    >
      {spans ? (
        <TimelineCanvas
          {...props}
          spans={spans}
          label={`${TITLE}: ${rangeLabel}.${faultText(props)} Arrow keys move, plus and minus zoom, Home shows the whole run.`}
          onHover={setHovered}
        />
      ) : null}
    </ChartFrame>
  );
}

/** Names of the visible faults, for screen readers. */
function faultText({ faults, range }: Pick<HolderTimelineProps, "faults" | "range">): string {
  const inView = faults.filter(({ fromUs, toUs }) => fromUs <= range.toUs && toUs >= range.fromUs);
  return inView.length === 0 ? "" : ` Faults: ${inView.map(({ faultId }) => faultId).join(", ")}.`;
}
