import { formatStepMs, NO_VALUE, plural } from "@/app/_lib/format";
import { ALARM_MARKS, markText, type Spans, spansInView, type TimeRange } from "@/app/_lib/timeline-view";
import styles from "./timeline.module.css";

/** Limit of table rows; zooming in shows the others. */
const MAX_ROWS = 200;

interface SpanTableProps {
  readonly spans: Spans;
  readonly lanes: readonly string[];
  readonly range: TimeRange;
  readonly caption: string;
}

/** The visible spans of the timeline as a table. */
export function SpanTable({ spans, lanes, range, caption }: SpanTableProps) {
  const indices = spansInView(spans, range);
  const shown = indices.slice(0, MAX_ROWS);
  const value = (one: number | null | undefined) => one ?? NO_VALUE;
  return (
    <>
      <table className={styles.table}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">node</th>
            <th scope="col" className="num">
              from, ms
            </th>
            <th scope="col" className="num">
              duration, ms
            </th>
            <th scope="col" className="num">
              read
            </th>
            <th scope="col" className="num">
              wrote
            </th>
            <th scope="col">violation</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((index) => {
            const marks = spans.marks[index] ?? 0;
            return (
              <tr key={index}>
                <th scope="row" className="mono">
                  {lanes[spans.lane[index] ?? 0]}
                </th>
                <td className="num">{formatStepMs(spans.fromUs[index] ?? 0)}</td>
                <td className="num">{formatStepMs(spans.lengthUs[index] ?? 0)}</td>
                <td className="num">{value(spans.readValue[index])}</td>
                <td className="num">{value(spans.writtenValue[index])}</td>
                <td className={marks & ALARM_MARKS ? "alarm" : undefined}>{markText(marks)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {indices.length > shown.length ? (
        <p className={styles.more}>
          {plural(indices.length - shown.length, "more purchase", "more purchases")} in this range. Zoom in to see them.
        </p>
      ) : null}
    </>
  );
}
