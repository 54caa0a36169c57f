"use client";

import { useMemo, useState } from "react";
import type uPlot from "uplot";
import type { FaultBand } from "@/app/_lib/fault-bands";
import { NO_VALUE } from "@/app/_lib/format";
import type { Columns } from "@/app/_lib/series";
import styles from "./chart.module.css";
import { type BuildOptions, UplotCanvas } from "./uplot-canvas";

export interface ChartKey {
  readonly label: string;
  /** Longer words for the table's heading. */
  readonly heading?: string;
  /** What is measured, on hover. */
  readonly hint?: string;
  readonly colour: string;
  readonly mark: "line" | "dashed" | "block" | "hatched";
  readonly format: (value: number) => string;
}

interface TimeChartProps {
  readonly title: string;
  /** What the y axis counts, with its unit. */
  readonly unit: string;
  readonly keys: readonly ChartKey[];
  /** The values as they are, for readout and table, in the order of `keys`. */
  readonly columns: Columns;
  /** The y values as they are drawn, where that differs (sums of a stack). */
  readonly drawn?: readonly (readonly (number | null)[])[];
  readonly build: BuildOptions;
  readonly height?: number;
  /** The chart in a sentence. */
  readonly summary: string;
  readonly bands?: readonly FaultBand[] | undefined;
}

const NO_BANDS: readonly FaultBand[] = [];

function bandWords(bands: readonly FaultBand[]): string {
  return bands
    .map(({ label, fromS, toS }) => ` Fault ${label} from ${fromS.toFixed(2)} to ${toS.toFixed(2)} s.`)
    .join("");
}

function cell(key: ChartKey, value: number | null | undefined): string {
  return value === null || value === undefined ? NO_VALUE : key.format(value);
}

const BAND_KEY: ChartKey = { label: "fault", colour: "ink", mark: "hatched", format: String };

function Key({ entry, value }: { entry: ChartKey; value: string | null }) {
  return (
    <li className={styles.key} title={entry.hint}>
      <span className={styles.swatch} data-mark={entry.mark} style={{ color: `var(--${entry.colour})` }} />
      {entry.label}
      {value === null ? null : <span className={styles.value}>{value}</span>}
    </li>
  );
}

function SampleTable({ title, keys, columns }: Pick<TimeChartProps, "title" | "keys" | "columns">) {
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">{title}, one row a sample</caption>
      <thead>
        <tr>
          <th scope="col" className="num">
            seconds
          </th>
          {keys.map((key) => (
            <th key={key.label} scope="col" className="num" title={key.hint}>
              {key.heading ?? key.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {columns.x.map((x, index) => (
          <tr key={x}>
            <th scope="row" className="num">
              {x.toFixed(2)}
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
  );
}

/** A chart over time with its key, a readout under the pointer, and its numbers as a table one press away. */
export function TimeChart(props: TimeChartProps) {
  const { title, unit, keys, columns, drawn = columns.ys, build, height = 190, summary, bands = NO_BANDS } = props;
  const [asTable, setAsTable] = useState(false);
  const [point, setPoint] = useState<number | null>(null);
  const data = useMemo(() => [columns.x, ...drawn] as unknown as uPlot.AlignedData, [columns.x, drawn]);
  const at = point === null ? undefined : columns.x[point];
  const isEmpty = columns.x.length === 0;
  return (
    <figure className={styles.frame}>
      <figcaption className={styles.head}>
        <h2>{title}</h2>
        <button
          type="button"
          className={styles.toggle}
          aria-pressed={asTable}
          aria-label={`${title}: show the numbers as a table`}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? "chart" : "table"}
        </button>
      </figcaption>
      <div className={styles.legend}>
        <span className={styles.unit}>{at === undefined ? unit : `at ${at.toFixed(2)} s`}</span>
        <ul className={styles.keys}>
          {keys.map((entry, index) => (
            <Key
              key={entry.label}
              entry={entry}
              value={at === undefined || point === null ? null : cell(entry, columns.ys[index]?.[point])}
            />
          ))}
          {bands.length === 0 ? null : <Key entry={BAND_KEY} value={null} />}
        </ul>
      </div>
      <div className={styles.body} style={{ height }}>
        {asTable ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
          <section className={styles.scroll} tabIndex={0} aria-label={`${title}, numbers`}>
            <SampleTable title={title} keys={keys} columns={columns} />
          </section>
        ) : (
          <UplotCanvas
            build={build}
            data={data}
            height={height}
            label={summary + bandWords(bands)}
            onPoint={setPoint}
            bands={bands}
          />
        )}
        {isEmpty && !asTable ? <p className={styles.empty}>No samples yet</p> : null}
      </div>
    </figure>
  );
}
