"use client";

import { type ReactNode, useState } from "react";
import styles from "./chart.module.css";

interface ChartFrameProps {
  readonly title: string;
  /** What is drawn, with its unit; while something is pointed at, what that is. */
  readonly unit: ReactNode;
  /** The key, as list items. */
  readonly keys?: ReactNode;
  /** A key of long names, which may take several lines. */
  readonly hasLongKeys?: boolean;
  readonly height: number;
  /** The same numbers; shown in the chart's place. */
  readonly table: ReactNode;
  /** What to say where there is nothing to draw. */
  readonly blank?: string | null;
  readonly testId?: string;
  /** Beside the title. */
  readonly controls?: ReactNode;
  /** Below the chart. */
  readonly foot?: ReactNode;
  readonly children: ReactNode;
}

/** A chart with its title, its key and its numbers one press away; it keeps its height whatever it shows. */
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
      <figcaption className={styles.head}>
        <h2>{title}</h2>
        {controls}
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
      <div className={styles.legend} data-long={hasLongKeys}>
        <span className={styles.unit}>{unit}</span>
        {keys ? <ul className={styles.keys}>{keys}</ul> : null}
      </div>
      <div className={styles.body} style={{ height }}>
        {asTable ? (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
          <section className={styles.scroll} tabIndex={0} aria-label={`${title}, numbers`}>
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
