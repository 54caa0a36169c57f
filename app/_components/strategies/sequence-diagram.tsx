import type { Sequence, SequenceRow } from "@/app/_lib/strategies/sequence-rows";
import type { Buyer } from "@/lib/stock/recorded-commands";
import styles from "./sequence-diagram.module.css";

const HEAD_HEIGHT = 30;
const ROW_HEIGHT = 36;
const FOOT_HEIGHT = 12;
/** Where the arrow lies in its row, below its text. */
const ARROW_AT = 19;
const EDGE_PERCENT = 6;
const HOLD_WIDTH = 8;
const HEAD = 6;

interface Lane {
  readonly id: string;
  readonly label: string;
}

interface SequenceDiagramProps {
  readonly sequence: Sequence;
  /** The lock's server first; without the buyers. */
  readonly servers: readonly Lane[];
}

/** Two purchases over time: buyer A on the left, buyer B on the right, the servers between them. */
export function SequenceDiagram({ sequence: { rows, holds }, servers }: SequenceDiagramProps) {
  const lanes: Lane[] = [{ id: "A", label: "buyer A" }, ...servers, { id: "B", label: "buyer B" }];
  const height = HEAD_HEIGHT + rows.length * ROW_HEIGHT + FOOT_HEIGHT;
  const xOf = (id: string) => {
    const index = lanes.findIndex((lane) => lane.id === id);
    return EDGE_PERCENT + (index * (100 - 2 * EDGE_PERCENT)) / (lanes.length - 1);
  };
  const yOf = (row: number) => HEAD_HEIGHT + row * ROW_HEIGHT;
  return (
    <figure className={styles.figure}>
      <svg
        className={styles.diagram}
        height={height}
        role="img"
        aria-label="Sequence diagram of two concurrent purchases. The commands are listed below it."
      >
        {lanes.map(({ id, label }) => (
          <g key={id}>
            <text x={`${xOf(id)}%`} y={16} className={styles.lane}>
              {label}
            </text>
            <line x1={`${xOf(id)}%`} x2={`${xOf(id)}%`} y1={HEAD_HEIGHT - 6} y2={height} className={styles.life} />
          </g>
        ))}
        {holds.map(({ buyer, from, to }) => (
          <rect
            key={buyer}
            x={`${xOf(buyer)}%`}
            y={yOf(from)}
            width={HOLD_WIDTH}
            height={yOf(to + 1) - yOf(from)}
            className={styles.hold}
            transform={`translate(${-HOLD_WIDTH / 2} 0)`}
          />
        ))}
        {rows.map((row, index) => (
          <Arrow key={row.key} row={row} y={yOf(index)} from={xOf(row.buyer)} to={xOf(row.server)} />
        ))}
      </svg>
    </figure>
  );
}

interface ArrowProps {
  readonly row: SequenceRow;
  readonly y: number;
  /** Percent of the width. */
  readonly from: number;
  readonly to: number;
}

function Arrow({ row, y, from, to }: ArrowProps) {
  const { kind, buyer, text, shortText, reply } = row;
  const [start, end] = kind === "call" ? [from, to] : [to, from];
  const points = end > start ? 1 : -1;
  const lineY = y + ARROW_AT;
  return (
    <g className={styles.row} data-kind={kind}>
      <line x1={`${start}%`} x2={`${end}%`} y1={lineY} y2={lineY} className={styles.line} />
      <svg x={`${end}%`} y={lineY} className={styles.tip} aria-hidden="true">
        <path d={`M 0 0 l ${-points * HEAD} ${-HEAD / 2} v ${HEAD} z`} />
      </svg>
      <Label buyer={buyer} x={from} y={lineY - 5} className={styles.text}>
        <tspan className={styles.long}>{text}</tspan>
        <tspan className={styles.short}>{shortText}</tspan>
      </Label>
      {reply === null || reply === "" ? null : (
        <Label buyer={buyer} x={from} y={lineY + 12} className={styles.reply}>
          → {reply}
        </Label>
      )}
    </g>
  );
}

interface LabelProps {
  readonly buyer: Buyer;
  readonly x: number;
  readonly y: number;
  readonly className: string | undefined;
  readonly children: React.ReactNode;
}

/** Text beside the buyer's line: right of A's, left of B's. */
function Label({ buyer, x, y, className, children }: LabelProps) {
  const isLeft = buyer === "A";
  return (
    <text x={`${x}%`} dx={isLeft ? 10 : -10} y={y} textAnchor={isLeft ? "start" : "end"} className={className}>
      {children}
    </text>
  );
}
