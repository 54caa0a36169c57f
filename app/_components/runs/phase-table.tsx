import { agreementText } from "@/app/_lib/agreement-text";
import { formatMsCell } from "@/app/_lib/format";
import { PHASE_LABELS, PHASE_MEANINGS } from "@/app/_lib/run-series";
import { PHASES } from "@/lib/history/phases";
import type { Percentiles } from "@/lib/node/figures";
import type { RunDocument } from "@/lib/runs/document";
import styles from "./phase-table.module.css";

const COLUMNS = ["p50", "p90", "p95", "p99", "p999", "max"] as const;

interface PhaseRow {
  readonly label: string;
  readonly meaning: string;
  readonly values: Percentiles;
  readonly colour: string;
}

const PHASE_COLOURS = {
  poolWait: "phase-pool",
  wait: "phase-wait",
  hold: "phase-hold",
  commit: "phase-commit",
} as const;

/** The phases and the total measured inside the nodes, then the total measured by the load generator. */
function rowsOf({ phasesMs, latencyMs, latencySource, agreement, client }: RunDocument): PhaseRow[] {
  const phases = PHASES.map((phase) => ({
    label: PHASE_LABELS[phase],
    meaning: PHASE_MEANINGS[phase],
    values: phasesMs[phase],
    colour: PHASE_COLOURS[phase],
  }));
  const served = agreement?.serverLatencyMs ?? (latencySource === "server" ? latencyMs : null);
  const inside = { label: "inside the node", meaning: "from request to response", colour: "ink" };
  const bought = {
    label: "whole purchase",
    meaning: `measured by ${client?.engine ?? "the load generator"}`,
    colour: "ink",
  };
  return [
    ...phases,
    ...(served === null ? [] : [{ ...inside, values: served }]),
    ...(latencySource === "client" ? [{ ...bought, values: latencyMs }] : []),
  ];
}

/** Compares the measurements of the load generator and the nodes. */
function Agreement({ document }: { document: RunDocument }) {
  const words = agreementText(document);
  if (words === null) return null;
  return (
    <div className={styles.agreement} data-testid="agreement" data-flagged={words.flags.length > 0}>
      <p>{words.sentences.join(" ")}</p>
      {words.flags.map((flag) => (
        <p key={flag} className={styles.flag}>
          <strong>The measurements disagree.</strong> {flag}
        </p>
      ))}
    </div>
  );
}

/** A bar from p50 to p99, on one scale for all phases. */
function Spread({ values, max, colour }: { values: Percentiles; max: number; colour: string }) {
  if (values.p50 === null || values.p99 === null || max === 0) return null;
  const at = (ms: number) => `${(ms / max) * 100}%`;
  return (
    <svg className={styles.spread} role="presentation" aria-hidden="true" style={{ color: `var(--${colour})` }}>
      <line className={styles.scale} x1="0" x2="100%" y1="8" y2="8" />
      <line className={styles.range} x1={at(values.p50)} x2={at(values.p99)} y1="8" y2="8" />
      <rect x={at(values.p50)} y="2" width="3" height="12" fill="currentColor" />
    </svg>
  );
}

/** The phases of each node, which shows a node that is slower than the others. */
function NodeSplit({ nodes }: Pick<RunDocument, "nodes">) {
  if (nodes.length < 2) return null;
  return (
    <table className={styles.table}>
      <caption className={styles.caption}>By node: median, with p99 below it</caption>
      <thead>
        <tr>
          <th scope="col">node</th>
          {PHASES.map((phase) => (
            <th key={phase} scope="col" className="num">
              {PHASE_LABELS[phase]}
            </th>
          ))}
          <th scope="col" className="num">
            inside
          </th>
        </tr>
      </thead>
      <tbody>
        {nodes.map(({ node, phasesMs, latencyMs }) => (
          <tr key={node}>
            <th scope="row" className="mono">
              {node}
            </th>
            {[...PHASES.map((phase) => phasesMs[phase]), latencyMs].map(({ p50, p99 }, index) => (
              <td key={PHASES[index] ?? "inside"} className="num">
                {formatMsCell(p50)}
                <span className={styles.under}>{formatMsCell(p99)}</span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Percentiles of each phase and of the total, as nodes and load generator measured them. */
export function PhaseTable({ document }: { document: RunDocument }) {
  const rows = rowsOf(document);
  const max = Math.max(...rows.map((row) => row.values.p99 ?? 0));
  return (
    <section className={styles.block} aria-label="The phases of a purchase">
      <header className={styles.head}>
        <h2>The phases of a purchase</h2>
        <p className="muted">in milliseconds; the bar spans p50 to p99</p>
      </header>
      <div className={styles.scroll}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">phase</th>
              <th scope="col" className={styles.spreadCell}>
                <span className="visually-hidden">p50 to p99</span>
              </th>
              {COLUMNS.map((column) => (
                <th key={column} scope="col" className="num" data-column={column}>
                  {column === "p999" ? "p99.9" : column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.label}>
                <th scope="row">
                  {row.label} <span className={styles.meaning}>{row.meaning}</span>
                </th>
                <td className={styles.spreadCell}>
                  <Spread values={row.values} max={max} colour={row.colour} />
                </td>
                {COLUMNS.map((column) => (
                  <td key={column} className="num" data-column={column}>
                    {formatMsCell(row.values[column])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Agreement document={document} />
      <NodeSplit nodes={document.nodes} />
    </section>
  );
}
