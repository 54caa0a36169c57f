"use client";

import { useState } from "react";
import type { TimelineState } from "@/app/_hooks/use-timeline";
import { formatCount, plural } from "@/app/_lib/format";
import {
  markWords,
  panRange,
  rangeWords,
  type Spans,
  spansInView,
  type TimeRange,
  zoomRange,
} from "@/app/_lib/timeline-view";
import type { TimelineFault } from "@/lib/runs/evidence";
import { SpanTable } from "./span-table";
import styles from "./timeline.module.css";
import { canvasHeight, TimelineCanvas } from "./timeline-canvas";

export interface HolderTimelineProps {
  readonly timeline: TimelineState;
  readonly lanes: readonly string[];
  readonly depths: readonly number[];
  readonly hasHolds: boolean;
  /** Some purchase is marked with an alarm. */
  readonly hasMarks: boolean;
  readonly endUs: number;
  readonly range: TimeRange;
  readonly faults: readonly TimelineFault[];
  readonly chosen: readonly number[];
  readonly isAlarm: boolean;
  readonly onRange: (range: TimeRange) => void;
}

const TITLE = "Who was inside, node by node";

function readout(spans: Spans, lanes: readonly string[], index: number): string {
  const read = spans.readValue[index] ?? null;
  const wrote = spans.writtenValue[index] ?? null;
  const parts = [
    `${lanes[spans.lane[index] ?? 0]} from ${((spans.fromUs[index] ?? 0) / 1_000).toFixed(3)} ms for ${((spans.lengthUs[index] ?? 0) / 1_000).toFixed(3)} ms`,
    ...(read === null ? [] : [`read ${read}`]),
    ...(wrote === null ? [] : [`wrote ${wrote}`]),
  ];
  const marks = markWords(spans.marks[index] ?? 0);
  return `${parts.join(", ")}${marks === "" ? "" : `: ${marks}`}`;
}

function Zoom({ range, endUs, onRange }: Pick<HolderTimelineProps, "range" | "endUs" | "onRange">) {
  const buttons: readonly (readonly [text: string, label: string, next: TimeRange])[] = [
    ["←", "Earlier", panRange(range, -0.5, endUs)],
    ["→", "Later", panRange(range, 0.5, endUs)],
    ["−", "Show more time", zoomRange(range, { factor: 2 }, endUs)],
    ["+", "Show less time", zoomRange(range, { factor: 0.5 }, endUs)],
    ["all", "Show the whole run", { fromUs: 0, toUs: Math.max(1, endUs) }],
  ];
  return (
    <fieldset className={styles.zoom} aria-label="Time in view" data-print="no">
      {buttons.map(([text, label, next]) => (
        <button key={label} type="button" aria-label={label} title={label} onClick={() => onRange(next)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}

function Keys({ hasHolds, isAlarm, hasMarks }: { hasHolds: boolean; isAlarm: boolean; hasMarks: boolean }) {
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
      <li>
        <span className={styles.swatch} data-mark={isAlarm ? "chosen-alarm" : "chosen"} />
        those in the lines
      </li>
    </ul>
  );
}

/** In place of the timeline, where no purchase was recorded. */
export function NobodyCame() {
  return (
    <>
      <h2>{TITLE}</h2>
      <p className={styles.readout}>No purchase was recorded.</p>
    </>
  );
}

/** One lane a node, one bar a purchase that was inside. */
export function HolderTimeline(props: HolderTimelineProps) {
  const { timeline, lanes, hasHolds, endUs, range, onRange } = props;
  const [asTable, setAsTable] = useState(false);
  const [hovered, setHovered] = useState<number | null>(null);
  const spans = timeline.phase === "ready" ? timeline.spans : null;
  const inView = spans ? spansInView(spans, range).length : 0;
  const words = `${rangeWords(range)}, ${formatCount(inView)} of ${spans ? plural(spans.count, "purchase") : "…"}`;
  return (
    <figure className={styles.frame} data-testid="timeline" data-phase={timeline.phase}>
      <figcaption className={styles.head}>
        <h2>{TITLE}</h2>
        <Zoom range={range} endUs={endUs} onRange={onRange} />
        <button
          type="button"
          className={styles.toggle}
          aria-pressed={asTable}
          aria-label={`${TITLE}: show the numbers as a table`}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? "chart" : "table"}
        </button>
      </figcaption>
      <p className={styles.readout} data-testid="range">
        {spans && hovered !== null ? readout(spans, lanes, hovered) : words}
      </p>
      <div className={styles.body} style={{ height: canvasHeight(props) }}>
        {spans === null ? (
          <p className={styles.waiting}>
            {timeline.phase === "failed" ? timeline.message : "Reading the recorded purchases …"}
          </p>
        ) : asTable ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
          <section className={styles.scroll} tabIndex={0} aria-label={`${TITLE}, numbers`}>
            <SpanTable spans={spans} lanes={lanes} range={range} caption={`${TITLE}: ${words}`} />
          </section>
        ) : (
          <TimelineCanvas
            {...props}
            spans={spans}
            label={`${TITLE}: ${words}. Arrow keys move, plus and minus zoom, Home shows the whole run.`}
            onHover={setHovered}
          />
        )}
      </div>
      <div className={styles.foot}>
        <Keys hasHolds={hasHolds} isAlarm={props.isAlarm} hasMarks={props.hasMarks} />
        <p data-print="no">
          drag, or select it and use <kbd>←</kbd> <kbd>→</kbd> <kbd>+</kbd> <kbd>−</kbd> <kbd>Home</kbd> or the wheel
        </p>
      </div>
    </figure>
  );
}
