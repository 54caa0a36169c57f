import type { CheckName } from "@/lib/history/applicability";
import type { RunDocument, RunViolations } from "@/lib/runs/document";
import { durationText, formatCount, plural } from "./format";

/** What the checkers looked for, as the pages list it. */

export interface Check {
  readonly id: keyof RunViolations | "further";
  readonly label: string;
  /** What a number above 0 means. */
  readonly meaning: string;
  /** Null: judged before it was looked for. */
  readonly count: number | null;
}

type Kind = Pick<Check, "label" | "meaning"> & { readonly id: keyof RunViolations };

const OVERSOLD: Kind = { id: "oversold", label: "Oversold", meaning: "orders beyond the stock there was" };
const LOST_UPDATES: Kind = {
  id: "lostUpdates",
  label: "Lost updates",
  meaning: "orders the stock counter does not know of",
};
const UNDERSOLD: Kind = {
  id: "undersold",
  label: "Undersold",
  meaning: "units gone from the counter without an order",
};
const NEGATIVE: Kind = { id: "negativeStock", label: "Negative stock", meaning: "units below zero in the counter" };
const DUPLICATES: Kind = { id: "duplicateClaims", label: "Duplicate claims", meaning: "units one buyer has too many" };
const OVERLAPS: Kind = {
  id: "overlappingHolds",
  label: "Overlapping holds",
  meaning: "pairs of holders inside at the same time",
};
const STALE: Kind = {
  id: "staleWrites",
  label: "Stale writes",
  meaning: "writes accepted from a holder that had lost its hold",
};
const FENCING: Kind = { id: "fencingOrder", label: "Fencing order", meaning: "fencing tokens that did not rise" };
const TICKETS: Kind = {
  id: "ticketOrder",
  label: "Ticket order",
  meaning: "answers that no order of events in real time explains",
};
const LOST_SALES: Kind = {
  id: "acknowledgedRows",
  label: "Lost sales",
  meaning: "buyers told sold without exactly that one order",
};
const TWICE: Kind = {
  id: "unknownRows",
  label: "Sold twice unanswered",
  meaning: "buyers without an answer who have two orders",
};
const REFUSED: Kind = {
  id: "refusedRows",
  label: "Sold to the refused",
  meaning: "buyers turned away who have an order",
};
const STRAY: Kind = { id: "strayRows", label: "Stray orders", meaning: "orders that belong to no purchase" };

/** Listed wherever a run is shown. */
const MAIN = [OVERSOLD, LOST_UPDATES, UNDERSOLD, NEGATIVE, DUPLICATES, OVERLAPS, STALE];
/** Rarer: one line as long as they find nothing. */
const FURTHER = [LOST_SALES, REFUSED, TWICE, STRAY, TICKETS, FENCING];

export const CHECK_COUNT = MAIN.length + FURTHER.length;

/** The short list: what was found, the main kinds always, and one line for all others. */
export function checksOf({ violations }: Pick<RunDocument, "violations">): Check[] {
  const counted = (kind: Kind): Check => ({ ...kind, count: violations[kind.id] ?? null });
  const found = FURTHER.map(counted).filter(({ count }) => (count ?? 0) > 0);
  const others = FURTHER.length - found.length;
  const wereMade = FURTHER.every(({ id }) => violations[id] !== undefined);
  const further: Check = {
    id: "further",
    label: `${others} further checks`,
    meaning: "fencing tokens and tickets in order, and each answer against the orders in the database",
    count: wereMade ? 0 : null,
  };
  return [...MAIN.map(counted), ...found, ...(others > 0 ? [further] : [])];
}

/** One check of a run in full: what it found, or why it was not made. */
export interface CheckRow {
  readonly id: string;
  readonly label: string;
  /** What it looked for; why it was not made; or, of a measure, nothing. */
  readonly note: string;
  /** In words and figures; null: not applicable. */
  readonly result: string | null;
  readonly isAlarm: boolean;
  /** Its first finding, by the name that opens it (`lostUpdates-1`). */
  readonly finding: string | null;
}

export interface CheckGroup {
  readonly title: string;
  readonly rows: readonly CheckRow[];
}

/** What is known only from the history; null until it has been read. */
export interface CheckEvidence {
  readonly violations: Readonly<Record<string, number>>;
  readonly notApplicable: Partial<Readonly<Record<CheckName, string>>>;
  readonly findings: readonly { readonly name: string; readonly kind: string }[];
  readonly measures: { readonly handOff: NonNullable<RunDocument["handOff"]> };
}

/** Every check of an ended run, in groups. */
export function checkGroups(document: RunDocument, evidence: CheckEvidence | null): CheckGroup[] {
  const row = (kind: Kind) => violationRow(kind, document, evidence);
  return [
    {
      title: "Stock and orders",
      rows: [conservation(document), ...[OVERSOLD, LOST_UPDATES, UNDERSOLD, NEGATIVE, DUPLICATES].map(row)],
    },
    { title: "Each answer against the database", rows: [TICKETS, LOST_SALES, TWICE, REFUSED, STRAY].map(row) },
    { title: "Holds of the lock", rows: [OVERLAPS, FENCING, STALE].map(row) },
    { title: "Waiting", rows: [liveness(evidence), fairness(document, evidence), handOff(document, evidence)] },
  ];
}

function violationRow({ id, label, meaning }: Kind, { violations }: RunDocument, evidence: CheckEvidence | null) {
  // An older document has fewer counts; its history has them all.
  const count = violations[id] ?? evidence?.violations[id];
  const reason = count === undefined ? "judged before this was looked for" : evidence?.notApplicable[id];
  if (reason !== undefined && (count ?? 0) === 0) return notMade(id, label, reason);
  return {
    ...plainRow(id, label, meaning),
    result: formatCount(count),
    isAlarm: (count ?? 0) > 0,
    finding: firstOf(id, evidence),
  };
}

function conservation({ stock }: RunDocument): CheckRow {
  const { initial, final, orders } = stock;
  const isKept = initial - final === orders;
  return {
    ...plainRow("conservation", "Conservation", "what left the stock is what was ordered"),
    result: `${formatCount(initial)} − ${formatCount(final)} ${isKept ? "=" : "≠"} ${formatCount(orders)}`,
    isAlarm: !isKept,
  };
}

function liveness(evidence: CheckEvidence | null): CheckRow {
  const [id, label] = ["liveness", "Served after a fault"];
  if (!evidence) return plainRow(id, label, "read from the history");
  const reason = evidence.notApplicable.liveness;
  if (reason !== undefined) return notMade(id, label, reason);
  const late = evidence.findings.filter(({ kind }) => kind === "unservedWaiters").length;
  return {
    ...plainRow(id, label, "waiters are served within a bound once a fault has healed"),
    result: late === 0 ? "all" : `${formatCount(late)} late`,
    isAlarm: late > 0,
    finding: firstOf("unservedWaiters", evidence),
  };
}

function fairness({ fairness }: RunDocument, evidence: CheckEvidence | null): CheckRow {
  const [id, label] = ["fairness", "Fairness of waits"];
  const { jain, longestWaitMs } = fairness;
  const note = longestWaitMs === null ? "" : `longest wait ${durationText(longestWaitMs)}; `;
  if (jain === null) return notMade(id, label, evidence?.notApplicable.fairness ?? "nobody waited and was served");
  return { ...plainRow(id, label, `${note}1 when all waited alike`), result: `Jain ${jain.toFixed(3)}` };
}

function handOff(document: RunDocument, evidence: CheckEvidence | null): CheckRow {
  const [id, label] = ["handOff", "Hand-off"];
  const measured = document.handOff ?? evidence?.measures.handOff;
  if (!measured) return notMade(id, label, "judged before this was measured");
  const { count, p50Ms, p99Ms, maxMs } = measured;
  if (count === 0) return notMade(id, label, evidence?.notApplicable.handOff ?? "nobody was waiting at a release");
  const note = `${plural(count, "release")} to the next waiter; p99 ${durationText(p99Ms)}, longest ${durationText(maxMs)}`;
  return { ...plainRow(id, label, note), result: durationText(p50Ms) };
}

function plainRow(id: string, label: string, note: string): CheckRow {
  return { id, label, note, result: "–", isAlarm: false, finding: null };
}

function notMade(id: string, label: string, reason: string): CheckRow {
  return { ...plainRow(id, label, reason), result: null };
}

function firstOf(kind: string, evidence: CheckEvidence | null): string | null {
  return evidence?.findings.find((finding) => finding.kind === kind)?.name ?? null;
}
