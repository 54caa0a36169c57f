import type { ReactNode } from "react";
import { LabLink } from "@/app/_components/ui/lab-link";
import { byFamily, type CatalogueStrategy, type FamilyGroup } from "@/app/_lib/strategy-catalogue";
import { EXPIRY_TEXT, needsText, SURVIVAL_TEXT, waiterText } from "@/app/_lib/traits-text";
import type { Survival } from "@/lib/locks/types";
import { Prose } from "../ui/prose";
import { VerdictWord } from "../ui/verdict-word";
import styles from "./strategies-table.module.css";

interface ColumnSpec {
  readonly label: string;
  readonly cell: (strategy: CatalogueStrategy) => ReactNode;
}

/** Columns after the strategy's name: expected verdicts, effect of each fault, fencing, waiting, expiry. */
const COLUMNS: readonly ColumnSpec[] = [
  { label: "one node", cell: ({ expected }) => <VerdictWord tone={expected.alone} /> },
  { label: "three nodes", cell: ({ expected }) => <VerdictWord tone={expected.threeNodes} /> },
  { label: "holder crashes", cell: ({ survives }) => <Survives how={survives.holderCrash} /> },
  { label: "holder pauses", cell: ({ survives }) => <Survives how={survives.holderPause} /> },
  { label: "server restarts", cell: ({ survives }) => <Survives how={survives.serverRestart} /> },
  { label: "fencing token", cell: ({ fencingSource }) => fencingSource ?? <span className="muted">none</span> },
  { label: "waiters", cell: waiterText },
  { label: "hold expires by", cell: ({ expiryClock }) => EXPIRY_TEXT[expiryClock] },
];

function Survives({ how }: { how: Survival }) {
  const tone = how === "breaks" ? styles.breaks : how === "not-applicable" ? "muted" : undefined;
  return <span className={tone}>{SURVIVAL_TEXT[how]}</span>;
}

function Row({ strategy }: { strategy: CatalogueStrategy }) {
  const { id, remark, kind, mechanism, available, unavailableReason } = strategy;
  return (
    <tr id={id} className={styles.row}>
      <th scope="row">
        <span className={styles.name}>
          <LabLink href={`/strategies/${id}`}>{id}</LabLink>{" "}
          <span className={styles.remark}>{kind === "atomic" ? `${remark}, atomic` : remark}</span>
        </span>
        <span className={styles.how}>
          <Prose text={mechanism} />
        </span>
        {available ? null : <span className={styles.absent}>{unavailableReason}</span>}
      </th>
      {COLUMNS.map(({ label, cell }) => (
        <td key={label} data-label={label}>
          {cell(strategy)}
        </td>
      ))}
    </tr>
  );
}

function Family({ family, label, strategies }: FamilyGroup) {
  const needs = [...new Set(strategies.flatMap((strategy) => strategy.needsLabels))];
  return (
    <tbody>
      <tr className={styles.family}>
        <th scope="rowgroup" colSpan={COLUMNS.length + 1} id={`family-${family}`}>
          {label} <span className={styles.needs}>needs {needsText(needs)}</span>
        </th>
      </tr>
      {strategies.map((strategy) => (
        <Row key={strategy.id} strategy={strategy} />
      ))}
    </tbody>
  );
}

/** The declared traits of every strategy; the tests and the expected verdicts come from the same declaration. */
export function StrategiesTable({ strategies }: { strategies: readonly CatalogueStrategy[] }) {
  return (
    <table className={styles.table}>
      <caption className="visually-hidden">
        Expected verdict of each strategy, and the effect of each fault on it
      </caption>
      <thead>
        <tr>
          <th scope="col">strategy</th>
          {COLUMNS.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      {byFamily(strategies).map((group) => (
        <Family key={group.family} {...group} />
      ))}
    </table>
  );
}
