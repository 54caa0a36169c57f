"use client";

import { useMemo, useState } from "react";
import type uPlot from "uplot";
import type { FaultBand } from "@/app/_lib/fault-bands";
import { NO_VALUE, plural } from "@/app/_lib/format";
import type { Columns, RunSeries } from "@/app/_lib/run-series";
import { type TimeAxis, timeCell, timeText } from "@/app/_lib/time-axis";
import styles from "./chart.module.css";
import { ChartFrame } from "./chart-frame";
import { type BuildOptions, UplotCanvas } from "./uplot-canvas";

export interface ChartKey {
  readonly label: string;
  /** Column heading in the table, if it differs from the label. */
  readonly heading?: string;
  /** Explanation, shown on hover. */
  readonly hint?: string;
  readonly colour: string;
  readonly mark: "line" | "dashed" | "block" | "hatched";
  readonly format: (value: number) => string;
}

interface TimeChartProps {
  readonly title: string;
  /** Unit of the y axis. */
  readonly unit: string;
  readonly keys: readonly ChartKey[];
  /** The values for readout and table, in the order of `keys`. */
  readonly columns: Columns;
  /** The drawn y values, if they differ from `columns` (cumulative sums of a stack). */
  readonly drawn?: readonly (readonly (number | null)[])[];
  readonly build: BuildOptions;
  /** Text alternative of the chart. */
  readonly summary: string;
  readonly series: RunSeries;
  readonly height?: number;
}

const DEFAULT_HEIGHT = 190;
/** Limit of table rows, above the number of steps of a history. The CSV file has every sample. */
const MAX_ROWS = 200;

function bandText(axis: TimeAxis, bands: readonly FaultBand[]): string {
  return bands
    .map(({ label, fromS, toS }) => ` Fault ${label} from ${timeText(axis, fromS)} to ${timeText(axis, toS)}.`)
    .join("");
}

function cell(key: ChartKey, value: number | null | undefined): string {
  return value === null || value === undefined ? NO_VALUE : key.format(value);
}

function Key({ entry, value }: { entry: ChartKey; value: string | null }) {
  return (
    <li className={styles.key} title={entry.hint}>
      <span className={styles.swatch} data-mark={entry.mark} style={{ color: `var(--${entry.colour})` }} />
      {entry.label}
      {value === null ? null : <span className={styles.value}>{value}</span>}
    </li>
  );
}

function ValuesTable({ title, keys, columns, series }: Pick<TimeChartProps, "title" | "keys" | "columns" | "series">) {
  const { axis, source } = series;
  const shown = columns.x.slice(0, MAX_ROWS);
  return (
    <>
      <table className={styles.table}>
        <caption className="visually-hidden">
          {title}, {source}
        </caption>
        <thead>
          <tr>
            <th scope="col" className="num">
              {axis.unit === "ms" ? "milliseconds" : "seconds"}
            </th>
            {keys.map((key) => (
              <th key={key.label} scope="col" className="num" title={key.hint}>
                {key.heading ?? key.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((x, index) => (
            <tr key={x}>
              <th scope="row" className="num">
                {timeCell(axis, x)}
              </th>
              {keys.map((key, at) => (
                <td key={key.label} className="num">
                  {cell(key, columns.ys[at]?.[index])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {columns.x.length > shown.length ? (
        <p className={styles.more}>{plural(columns.x.length - shown.length, "more")} in Samples (CSV).</p>
      ) : null}
    </>
  );
}

/** A chart over time with legend, readout under the pointer, and a table of its values. */
export function TimeChart(props: TimeChartProps) {
  const { title, unit, keys, columns, drawn = columns.ys, build, summary, series, height = DEFAULT_HEIGHT } = props;
  const { axis, bands, blank } = series;
  const [point, setPoint] = useState<number | null>(null);
  const data = useMemo(() => [columns.x, ...drawn] as unknown as uPlot.AlignedData, [columns.x, drawn]);
  const at = point === null ? undefined : columns.x[point];
  const values = keys.map((entry, index) => (
    <Key
      key={entry.label}
      entry={entry}
      value={at === undefined || point === null ? null : cell(entry, columns.ys[index]?.[point])}
    />
  ));
  return (
    <ChartFrame
      title={title}
      unit={at === undefined ? unit : `at ${timeText(axis, at)}`}
      keys={values}
      height={height}
      table={<ValuesTable title={title} keys={keys} columns={columns} series={series} />}
      blank={columns.x.length === 0 ? blank : null}
      testId="time-chart"
    >
      <UplotCanvas
        build={build}
        data={data}
        axis={axis}
        height={height}
        label={summary + bandText(axis, bands)}
        onPoint={setPoint}
        bands={bands}
      />
    </ChartFrame>
  );
}
