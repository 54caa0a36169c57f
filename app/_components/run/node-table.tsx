import { formatCount, formatMsCell } from "@/app/_lib/format";
import type { NodeRow } from "@/app/_lib/run-view";
import styles from "./tables.module.css";

interface NodeTableProps {
  readonly rows: readonly NodeRow[];
  readonly running: boolean;
  /** Outcomes of all purchases: "100 sold", "400 sold out" … */
  readonly answers: readonly string[];
}

/** Load, waiting and latency of each node; latency is measured inside the node. */
export function NodeTable({ rows, running, answers }: NodeTableProps) {
  const when = running ? "now" : "peak";
  return (
    <section className={styles.block} aria-label="Node by node">
      <header className={styles.head}>
        <h2>Node by node</h2>
        <p className={styles.aside}>{answers.join(", ")}</p>
      </header>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">node</th>
            <th scope="col" className="num">
              requests
            </th>
            <th scope="col" className="num">
              sold
            </th>
            <th scope="col" className="num">
              in flight <span className={styles.qualifier}>{when}</span>
            </th>
            <th scope="col" className="num">
              waiting <span className={styles.qualifier}>{when}</span>
            </th>
            <th scope="col" className="num" title="Median latency inside the node">
              p50 <span className={styles.qualifier}>node ms</span>
            </th>
            <th scope="col" className="num" title="99th percentile of latency inside the node">
              p99 <span className={styles.qualifier}>node ms</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.node}>
              <th scope="row" className="mono">
                {row.node}
              </th>
              <td className="num">{formatCount(row.requests)}</td>
              <td className="num">{formatCount(row.sold)}</td>
              <td className="num">{formatCount(row.inFlight)}</td>
              <td className="num">{formatCount(row.waiters)}</td>
              <td className="num">{formatMsCell(row.p50Ms)}</td>
              <td className="num">{formatMsCell(row.p99Ms)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
