import type { ReactNode } from "react";
import { formatCount, formatDuration, formatRate } from "@/app/_lib/format";
import type { Figures } from "@/app/_lib/run-view";
import styles from "./figure-row.module.css";

interface TileProps {
  readonly label: string;
  readonly hint: string;
  readonly alarm?: boolean;
  readonly unit?: ReactNode;
  readonly children: ReactNode;
}

function Tile({ label, hint, alarm = false, unit, children }: TileProps) {
  return (
    <div className={styles.tile}>
      <dt title={hint}>{label}</dt>
      <dd>
        <span className={alarm ? "alarm" : undefined}>{children}</span>
        {unit ? <span className={styles.unit}>{unit}</span> : null}
      </dd>
    </div>
  );
}

function peakUnit(figures: Figures): string {
  if (figures.tone === "running" || figures.tone === "opening") return "so far";
  return figures.certified ? "certified" : "not certified";
}

/** The six main figures, in boxes of fixed size. */
export function FigureRow({ figures }: { figures: Figures }) {
  const p50 = formatDuration(figures.latencyMs.p50);
  const p99 = formatDuration(figures.latencyMs.p99);
  const isBuyersView = figures.latencySource === "client";
  const view = isBuyersView ? "buyers" : "nodes";
  const measuredBy = isBuyersView ? "measured by the load generator" : "measured inside the store nodes";
  const buyers = figures.buyers === null ? null : `/ ${formatCount(figures.buyers)}`;
  return (
    <dl className={styles.row}>
      <Tile label="Sold" hint="Purchases that received a success response" unit={buyers}>
        {formatCount(figures.sold)}
      </Tile>
      <Tile
        label="Lost updates"
        hint="Orders that the stock counter does not include, because one write overwrote another"
        alarm={figures.lostUpdates > 0}
      >
        {formatCount(figures.lostUpdates)}
      </Tile>
      <Tile
        label="Sold per second"
        hint="While the sale runs: in the last quarter of a second. Afterwards: average of the whole run"
      >
        {formatRate(figures.soldPerSecond)}
      </Tile>
      <Tile
        label={`p50, ${view}`}
        hint={`Half of the purchases got a response within this time, ${measuredBy}`}
        unit={p50.unit}
      >
        {p50.text}
      </Tile>
      <Tile
        label={`p99, ${view}`}
        hint={`99 of 100 purchases got a response within this time, ${measuredBy}`}
        unit={p99.unit}
      >
        {p99.text}
      </Tile>
      <Tile
        label="Peak in flight"
        hint="Highest number of purchases that the nodes served at the same time"
        unit={peakUnit(figures)}
      >
        {formatCount(figures.peakInFlight)}
      </Tile>
    </dl>
  );
}
