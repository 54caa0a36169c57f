"use client";

import { type KeyboardEvent, type PointerEvent, useCallback, useEffect, useRef } from "react";
import { laneBoxes, panRange, rangeByKey, type Spans, type TimeRange, zoomRange } from "@/app/_lib/timeline-view";
import type { TimelineFault } from "@/lib/runs/evidence";
import { onThemeChange, readPalette } from "../chart/colours";
import { NAME_ROW_PX } from "../chart/fault-bands";
import { AXIS_HEIGHT, drawTimeline, LABEL_WIDTH, MAX_FAULT_ROWS, type Scene } from "./draw";
import { spanAt } from "./span-at";
import styles from "./timeline.module.css";

export interface TimelineCanvasProps {
  readonly spans: Spans;
  readonly lanes: readonly string[];
  readonly depths: readonly number[];
  readonly endUs: number;
  readonly range: TimeRange;
  readonly faults: readonly TimelineFault[];
  readonly selected: readonly number[];
  readonly alarmed: readonly number[];
  readonly label: string;
  readonly onRange: (range: TimeRange) => void;
  readonly onHover: (index: number | null) => void;
}

type Sized = Pick<TimelineCanvasProps, "depths" | "faults">;

function headOf({ faults }: Pick<TimelineCanvasProps, "faults">): number {
  return Math.min(MAX_FAULT_ROWS, faults.length) * NAME_ROW_PX;
}

export function canvasHeight({ depths, faults }: Sized): number {
  return laneBoxes(depths, headOf({ faults })).height + AXIS_HEIGHT;
}

/** Draws the scene at most once per frame; redraws when the size or the theme changes. */
function useScene(props: TimelineCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const frame = useRef(0);

  const sceneOf = useCallback((element: HTMLCanvasElement): Scene => {
    const head = headOf(latest.current);
    const { boxes, height } = laneBoxes(latest.current.depths, head);
    return { ...latest.current, boxes, head, width: element.clientWidth, height: height + AXIS_HEIGHT };
  }, []);

  const draw = useCallback(() => {
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const element = canvas.current;
      const pen = element?.getContext("2d");
      if (!element || !pen || !element.parentElement) return;
      const scene = sceneOf(element);
      const ratio = devicePixelRatio;
      element.width = Math.round(scene.width * ratio);
      element.height = Math.round(scene.height * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      drawTimeline(pen, scene, readPalette(element.parentElement));
      element.dataset.drawn = `${latest.current.range.fromUs}-${latest.current.range.toUs}`;
    });
  }, [sceneOf]);

  useEffect(draw);
  useEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const stopTheme = onThemeChange(draw);
    const resizer = new ResizeObserver(draw);
    resizer.observe(element);
    return () => {
      stopTheme();
      resizer.disconnect();
      cancelAnimationFrame(frame.current);
    };
  }, [draw]);
  return { canvas, sceneOf, latest };
}

/** Zoom and pan by wheel, drag and keys. Without focus, the wheel scrolls the page. */
export function TimelineCanvas(props: TimelineCanvasProps) {
  const { canvas, sceneOf, latest } = useScene(props);
  const frame = useRef<HTMLButtonElement>(null);
  const drag = useRef<{ x: number; range: TimeRange } | null>(null);
  const { range, endUs, label, onRange, onHover } = props;

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    // React's wheel listeners are passive and cannot prevent the page from scrolling.
    const onWheel = (event: WheelEvent) => {
      const { range: seen, endUs: end, onRange: show } = latest.current;
      const isOurs = document.activeElement === element || event.ctrlKey || event.metaKey;
      if (!isOurs) return;
      event.preventDefault();
      const width = Math.max(1, element.clientWidth - LABEL_WIDTH);
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        show(panRange(seen, (event.deltaX || event.deltaY) / width, end));
        return;
      }
      const share = (event.offsetX - LABEL_WIDTH) / width;
      const atUs = seen.fromUs + Math.min(1, Math.max(0, share)) * (seen.toUs - seen.fromUs);
      show(zoomRange(seen, { factor: Math.exp(Math.max(-60, Math.min(60, event.deltaY)) / 200), atUs }, end));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [latest]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = rangeByKey(event.key, range, endUs);
    if (next === null) return;
    event.preventDefault();
    onRange(next);
  };
  const onPointerDown = (event: PointerEvent<HTMLButtonElement>) => {
    drag.current = { x: event.clientX, range };
    event.currentTarget.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent<HTMLButtonElement>) => {
    const element = canvas.current;
    if (!element) return;
    if (drag.current) {
      const width = Math.max(1, element.clientWidth - LABEL_WIDTH);
      onRange(panRange(drag.current.range, (drag.current.x - event.clientX) / width, endUs));
      return;
    }
    const box = element.getBoundingClientRect();
    onHover(spanAt(sceneOf(element), { x: event.clientX - box.left, y: event.clientY - box.top }));
  };
  const endDrag = () => {
    drag.current = null;
  };
  return (
    <button
      ref={frame}
      type="button"
      className={styles.canvas}
      data-keys="timeline"
      aria-label={label}
      onKeyDown={onKeyDown}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={endDrag}
      onPointerCancel={endDrag}
      onPointerLeave={() => onHover(null)}
      style={{ height: canvasHeight(props) }}
    >
      <canvas ref={canvas} />
    </button>
  );
}
