"use client";

import { type ReactNode, useState } from "react";
import styles from "./chart.module.css";

interface ChartFrameProps {
  readonly title: string;
  /** Unit of the values; while the pointer is on the chart, the value under it. */
  readonly unit: ReactNode;
  /** The legend, as list items. */
  readonly keys?: ReactNode;
  /** The legend has long names and may need several lines. */
  readonly hasLongKeys?: boolean;
  readonly height: number;
  /** The same values as a table, shown in place of the chart. */
  readonly table: ReactNode;
  /** Text shown when the chart has no data. */
  readonly blank?: string | null;
  readonly testId?: string;
  /** Controls beside the title. */
  readonly controls?: ReactNode;
  /** Content below the chart. */
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

/** A chart with title, legend and a button that switches to a table of its values. The height is fixed. */
export function ChartFrame(props: ChartFrameProps) {
  const {
    title,
    unit,
    keys,
    hasLongKeys = false,
    height,
    table,
    blank = null,
    testId,
    controls,
    foot,
    children,
  } = props;
  const [asTable, setAsTable] = useState(false);
  return (
    <figure className={styles.frame} data-testid={testId}>
      <figcaption className={styles.head} data-controls={controls !== undefined}>
        <h2>{title}</h2>
        {controls}
        <button
          type="button"
          className={styles.toggle}
          aria-pressed={asTable}
          aria-label={`${title}: show the values as a table`}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? "chart" : "table"}
        </button>
      </figcaption>
      <div className={styles.legend} data-long={hasLongKeys}>
        <span className={styles.unit}>{unit}</span>
        {keys ? <ul className={styles.keys}>{keys}</ul> : null}
      </div>
      <div className={styles.body} style={{ height }}>
        {asTable ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
          <section className={styles.scroll} tabIndex={0} aria-label={`${title}, values`}>
            {table}
          </section>
        ) : (
          children
        )}
        {blank === null || asTable ? null : <p className={styles.empty}>{blank}</p>}
      </div>
      {foot}
    </figure>
  );
}
