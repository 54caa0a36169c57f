"use client";

import { type PointerEvent, useCallback, useMemo, useState } from "react";
import { durationText, formatMsCell, formatMsTick, formatShare } from "@/app/_lib/format";
import { type CurvePoint, layOutCurves, msAt, type PercentilePlot, shareTicks } from "@/lib/runs/percentile-axis";
import chart from "./chart.module.css";
import { ChartFrame } from "./chart-frame";
import styles from "./percentile-curve.module.css";

export interface LabelledCurve {
  readonly id: string;
  readonly label: string;
  readonly points: readonly CurvePoint[];
}

interface PercentileCurveProps {
  readonly title: string;
  readonly curves: readonly LabelledCurve[];
  readonly height?: number;
}

const MARGIN = { left: 52, right: 14, top: 10, bottom: 26 };
/** Width on the server; the browser measures the real one. */
const FIRST_WIDTH_PX = 640;
/** Curves differ in colour and dash, so that colour is not the only sign. */
const COLOURS = 6;
const DASHES = ["", "7 4", "2 3"] as const;
const TABLE_SHARES: readonly (readonly [number, string])[] = [
  [0.5, "p50"],
  [0.9, "p90"],
  [0.95, "p95"],
  [0.99, "p99"],
  [0.999, "p99.9"],
];

export interface CurveStyle {
  readonly colour: string;
  readonly dash: string | undefined;
}

/** Style of a curve, identical in the plot, the legend and the tables. */
export function curveStyle(index: number): CurveStyle {
  const dash = DASHES[(index + Math.floor(index / COLOURS)) % DASHES.length];
  return { colour: `var(--curve-${(index % COLOURS) + 1})`, dash: dash || undefined };
}

/** A short line in the style of the curve. */
export function CurveMark({ index }: { index: number }) {
  const { colour, dash } = curveStyle(index);
  return (
    <svg className={styles.mark} viewBox="0 0 22 4" aria-hidden="true">
      <line x1="0" x2="22" y1="2" y2="2" stroke={colour} strokeWidth="2.5" strokeDasharray={dash} />
    </svg>
  );
}

/** Observes the width of the element that receives the ref. */
function useWidth() {
  const [widthPx, setWidthPx] = useState(FIRST_WIDTH_PX);
  const measured = useCallback((host: HTMLDivElement | null) => {
    if (host === null) return;
    const observer = new ResizeObserver(() => setWidthPx(Math.max(240, host.clientWidth)));
    observer.observe(host);
    return () => observer.disconnect();
  }, []);
  return { measured, widthPx };
}

function Axes({ plot, widthPx, height }: { plot: PercentilePlot; widthPx: number; height: number }) {
  const right = widthPx - MARGIN.right;
  const foot = height - MARGIN.bottom;
  return (
    <g className={styles.axes}>
      {plot.scale.ticks.map((ms) => (
        <g key={ms}>
          <line x1={MARGIN.left} x2={right} y1={plot.y(ms)} y2={plot.y(ms)} />
          <text x={MARGIN.left - 8} y={plot.y(ms) + 4} textAnchor="end">
            {formatMsTick(ms)}
          </text>
        </g>
      ))}
      {shareTicks(plot.maxPosition).map(({ at, label }, index, all) => {
        const x = MARGIN.left + (at / plot.maxPosition) * (right - MARGIN.left);
        const isLast = index === all.length - 1 && right - x < 20;
        return (
          <g key={label}>
            <line x1={x} x2={x} y1={foot} y2={foot + 4} />
            <text x={isLast ? right : x} y={foot + 18} textAnchor={isLast ? "end" : "middle"}>
              {label}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function summaryOf(curves: readonly LabelledCurve[]): string {
  const words = curves.map(({ label, points }) => {
    const at = (share: number) => durationText(msAt(points, share));
    return points.length === 0 ? `${label}: no data` : `${label}: half within ${at(0.5)}, 99 % within ${at(0.99)}`;
  });
  return `Latency by percentile. ${words.join("; ")}.`;
}

function PercentileTable({ title, curves }: Pick<PercentileCurveProps, "title" | "curves">) {
  return (
    <table className={chart.table}>
      <caption className="visually-hidden">{title}, in milliseconds</caption>
      <thead>
        <tr>
          <th scope="col">ms</th>
          {TABLE_SHARES.map(([, name]) => (
            <th key={name} scope="col" className="num">
              {name}
            </th>
          ))}
          <th scope="col" className="num">
            max
          </th>
        </tr>
      </thead>
      <tbody>
        {curves.map(({ id, label, points }) => (
          <tr key={id}>
            <th scope="row">{label}</th>
            {TABLE_SHARES.map(([share, name]) => (
              <td key={name} className="num">
                {formatMsCell(msAt(points, share))}
              </td>
            ))}
            <td className="num">{formatMsCell(points.at(-1)?.ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Latency by percentile on an axis stretched towards the slowest purchases, with a table of its values. */
export function PercentileCurve({ title, curves, height = 260 }: PercentileCurveProps) {
  const [share, setShare] = useState<number | null>(null);
  const { measured, widthPx } = useWidth();
  const box = {
    left: MARGIN.left,
    top: MARGIN.top,
    width: widthPx - MARGIN.left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom,
  };
  const plot = layOutCurves(
    useMemo(() => curves.map(({ points }) => points), [curves]),
    box,
  );
  const point = (event: PointerEvent<SVGSVGElement>) => {
    const left = event.currentTarget.getBoundingClientRect().left;
    const position = ((event.clientX - left - box.left) / box.width) * plot.maxPosition;
    setShare(position < 0 || position > plot.maxPosition ? null : 1 - 10 ** -position);
  };
  const isEmpty = curves.every(({ points }) => points.length === 0);
  const keys = curves.map(({ id, label, points }, index) => (
    <li key={id} className={chart.key}>
      <CurveMark index={index} />
      {label}
      {share === null ? null : <span className={chart.value}>{durationText(msAt(points, share))}</span>}
    </li>
  ));
  return (
    <ChartFrame
      title={title}
      unit={share === null ? "response time by share of purchases" : `at ${formatShare(share)}`}
      keys={keys}
      hasLongKeys
      height={height}
      table={<PercentileTable title={title} curves={curves} />}
      blank={isEmpty ? "No data" : null}
      testId="percentile-curve"
    >
      <div ref={measured}>
        <svg
          className={styles.plot}
          width={widthPx}
          height={height}
          role="img"
          aria-label={summaryOf(curves)}
          onPointerMove={point}
          onPointerLeave={() => setShare(null)}
        >
          <Axes plot={plot} widthPx={widthPx} height={height} />
          {plot.paths.map((path, index) => {
            const { colour, dash } = curveStyle(index);
            return <path key={curves[index]?.id} d={path} stroke={colour} strokeDasharray={dash} />;
          })}
          {share === null ? null : (
            <line
              className={styles.cursor}
              x1={plot.x(share)}
              x2={plot.x(share)}
              y1={box.top}
              y2={box.top + box.height}
            />
          )}
        </svg>
      </div>
    </ChartFrame>
  );
}
