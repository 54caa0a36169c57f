import type { CheckName } from "@/lib/history/applicability";
import type { RunDocument, RunViolations } from "@/lib/runs/document";
import { durationText, formatCount, formatJain, plural } from "./format";
import type { Tone } from "./verdict";

/** The checks as the pages list them. */

export interface Check {
  readonly id: keyof RunViolations | "further";
  readonly label: string;
  /** What the check counts. */
  readonly meaning: string;
  /** Null: the run is older than this check. */
  readonly count: number | null;
}

type Kind = Pick<Check, "label" | "meaning"> & { readonly id: keyof RunViolations };

const OVERSOLD: Kind = { id: "oversold", label: "Oversold", meaning: "ordered units beyond the initial stock" };
const LOST_UPDATES: Kind = {
  id: "lostUpdates",
  label: "Lost updates",
  meaning: "ordered units that did not leave the stock",
};
const UNDERSOLD: Kind = {
  id: "undersold",
  label: "Undersold",
  meaning: "units that left the stock counter without an order",
};
const NEGATIVE: Kind = {
  id: "negativeStock",
  label: "Negative stock",
  meaning: "units below zero in the stock counter",
};
const DRIFT: Kind = {
  id: "counterDrift",
  label: "Counter drift",
  meaning: "units between the strategy's own counter and the row in PostgreSQL",
};
const DUPLICATE_CLAIMS: Kind = {
  id: "duplicateClaims",
  label: "Duplicate claims",
  meaning: "units beyond the limit per buyer",
};
const OVERLAPS: Kind = {
  id: "overlappingHolds",
  label: "Overlapping holds",
  meaning: "pairs of holders in the critical section at the same time",
};
const STALE: Kind = {
  id: "staleWrites",
  label: "Stale writes",
  meaning: "accepted writes of a holder that had lost the lock",
};
const FENCING: Kind = { id: "fencingOrder", label: "Fencing order", meaning: "fencing tokens that did not increase" };
const TICKETS: Kind = {
  id: "ticketOrder",
  label: "Ticket order",
  meaning: "responses that contradict the real-time order of the purchases",
};
const LOST_ORDERS: Kind = {
  id: "acknowledgedRows",
  label: "Lost orders",
  meaning: "purchases confirmed as sold without exactly one order",
};
const FAILOVER_LOSSES: Kind = {
  id: "failoverLosses",
  label: "Lost by a failover",
  meaning: "purchases confirmed as sold whose order the promoted replica of the database did not have",
};
const DUPLICATE_ORDERS: Kind = {
  id: "unknownRows",
  label: "Duplicate orders",
  meaning: "purchases with unknown outcome that have two orders",
};
const REJECTED_BUT_SOLD: Kind = {
  id: "refusedRows",
  label: "Rejected but sold",
  meaning: "rejected purchases that have an order",
};
const STRAY: Kind = { id: "strayRows", label: "Stray orders", meaning: "orders without a recorded purchase" };

/** Always listed. */
const MAIN = [OVERSOLD, LOST_UPDATES, UNDERSOLD, NEGATIVE, DUPLICATE_CLAIMS, OVERLAPS, STALE];
/** Summarized in one line unless they find violations. */
const FURTHER = [DRIFT, LOST_ORDERS, FAILOVER_LOSSES, REJECTED_BUT_SOLD, DUPLICATE_ORDERS, STRAY, TICKETS, FENCING];

export const CHECK_COUNT = MAIN.length + FURTHER.length;

/** The short list: the main checks, further checks with violations, and one line for the rest. */
export function checksOf({ violations }: Pick<RunDocument, "violations">): Check[] {
  const counted = (kind: Kind): Check => ({ ...kind, count: violations[kind.id] ?? null });
  const found = FURTHER.map(counted).filter(({ count }) => (count ?? 0) > 0);
  const others = FURTHER.length - found.length;
  const areKnown = FURTHER.every(({ id }) => violations[id] !== undefined);
  const further: Check = {
    id: "further",
    label: `${others} more checks`,
    meaning: "order of fencing tokens and tickets, and each response against the orders in the database",
    count: areKnown ? 0 : null,
  };
  return [...MAIN.map(counted), ...found, ...(others > 0 ? [further] : [])];
}

/** One check with its result, or the reason why it does not apply. */
export interface CheckRow {
  readonly id: string;
  readonly label: string;
  /** What the check counts, or why it has no result. */
  readonly note: string;
  /** Null: the check does not apply, or the run was not judged. */
  readonly result: string | null;
  /** Shown in place of a result. */
  readonly absence: string;
  readonly isAlarm: boolean;
  /** The check counts violations. Others measure, or restate the violations of several checks. */
  readonly isViolation: boolean;
  readonly first: FirstFinding | null;
}

/** The first finding of a check; its name links to it (`lostUpdates-1`). */
export interface FirstFinding {
  readonly name: string;
  /** When the check first found a violation; null for a sum over the whole run. */
  readonly atUs: number | null;
}

const NOT_APPLICABLE = "not applicable";

export interface CheckGroup {
  readonly title: string;
  readonly rows: readonly CheckRow[];
}

/** Results that only the history contains. */
export interface CheckEvidence {
  readonly violations: Readonly<Record<string, number>>;
  readonly notApplicable: Partial<Readonly<Record<CheckName, string>>>;
  readonly findings: readonly { readonly name: string; readonly kind: string; readonly atUs: number | null }[];
  readonly measures: { readonly handOff: NonNullable<RunDocument["handOff"]> };
}

/** Every check of an ended run, in groups. @param evidence null until the history is read */
export function checkGroups(document: RunDocument, evidence: CheckEvidence | null): CheckGroup[] {
  const row = (kind: Kind) => violationRow(kind, document, evidence);
  return [
    {
      title: "Stock and orders",
      rows: [
        conservation(document),
        ...[OVERSOLD, LOST_UPDATES, UNDERSOLD, DRIFT, NEGATIVE, DUPLICATE_CLAIMS].map(row),
      ],
    },
    {
      title: "Responses against the database",
      rows: [TICKETS, LOST_ORDERS, FAILOVER_LOSSES, DUPLICATE_ORDERS, REJECTED_BUT_SOLD, STRAY].map(row),
    },
    { title: "Lock", rows: [OVERLAPS, FENCING, STALE].map(row) },
    { title: "Waiting", rows: [liveness(evidence), fairness(document, evidence), handOff(document, evidence)] },
  ];
}

/** The result of all checks in one line. */
export function checkSummary(groups: readonly CheckGroup[], tone: Tone): string {
  const rows = groups.flatMap((group) => group.rows);
  const checks = rows.filter(({ isViolation }) => isViolation);
  const skipped = rows.filter(({ absence, result }) => result === null && absence === NOT_APPLICABLE).length;
  const found = checks.filter(({ isAlarm }) => isAlarm).length;
  return `${violationSummary({ found, of: checks.length, tone })}${skipped > 0 ? `, ${skipped} not applicable` : ""}`;
}

/** Only a safe run is known to have no violation. */
export function violationSummary({ found, of, tone }: { found: number; of: number; tone: Tone }): string {
  if (found > 0) return `${found} of ${of} found violations`;
  if (tone === "failed") return "not judged: the run failed";
  return tone === "safe" ? "no violations" : "no violations in what was recorded";
}

function violationRow(
  { id, label, meaning }: Kind,
  { violations, status }: RunDocument,
  evidence: CheckEvidence | null,
): CheckRow {
  // An older document lacks some counts; its history has all of them.
  const count = violations[id] ?? evidence?.violations[id];
  const reason = count === undefined ? "this run is older than the check" : evidence?.notApplicable[id];
  if (reason !== undefined && (count ?? 0) === 0) return { ...notApplicableRow(id, label, reason), isViolation: true };
  const row = { ...plainRow(id, label, meaning), isViolation: true };
  // Zero violations in a part of a run say nothing about the rest.
  if (status === "failed" && count === 0) return { ...row, result: null, absence: "not judged" };
  return { ...row, result: formatCount(count), isAlarm: (count ?? 0) > 0, first: firstOf(id, evidence) };
}

/** The checks of lost updates and undersold units count the difference, so this row counts no violation. */
function conservation({ stock }: RunDocument): CheckRow {
  const { initial, final, orders } = stock;
  const isKept = initial - final === orders;
  return {
    ...plainRow(
      "conservation",
      "Conservation",
      "units that left the stock equal the units ordered; the difference counts below",
    ),
    result: `${formatCount(initial)} − ${formatCount(final)} ${isKept ? "=" : "≠"} ${formatCount(orders)}`,
  };
}

function liveness(evidence: CheckEvidence | null): CheckRow {
  const [id, label] = ["liveness", "Waiters served after a fault"];
  if (!evidence) return plainRow(id, label, "read from the history");
  const reason = evidence.notApplicable.liveness;
  if (reason !== undefined) return notApplicableRow(id, label, reason);
  const late = evidence.findings.filter(({ kind }) => kind === "unservedWaiters").length;
  return {
    ...plainRow(id, label, "each waiter is served within a time limit after the fault ends"),
    result: late === 0 ? "all" : `${formatCount(late)} late`,
    isAlarm: late > 0,
    first: firstOf("unservedWaiters", evidence),
  };
}

function fairness({ fairness }: RunDocument, evidence: CheckEvidence | null): CheckRow {
  const [id, label] = ["fairness", "Fairness of waits"];
  const { jain, longestWaitMs } = fairness;
  const note = longestWaitMs === null ? "" : `longest wait ${durationText(longestWaitMs)}; `;
  if (jain === null)
    return notApplicableRow(id, label, evidence?.notApplicable.fairness ?? "no purchase waited and was served");
  return { ...plainRow(id, label, `${note}1 means that all waited equally long`), result: `Jain ${formatJain(jain)}` };
}

function handOff(document: RunDocument, evidence: CheckEvidence | null): CheckRow {
  const [id, label] = ["handOff", "Hand-off"];
  const measured = document.handOff ?? evidence?.measures.handOff;
  if (!measured) return notApplicableRow(id, label, "this run is older than the measurement");
  const { count, p50Ms, p99Ms, maxMs } = measured;
  if (count === 0)
    return notApplicableRow(id, label, evidence?.notApplicable.handOff ?? "no purchase was waiting at a release");
  const note = `${plural(count, "release")} to the next waiter; p99 ${durationText(p99Ms)}, longest ${durationText(maxMs)}`;
  return { ...plainRow(id, label, note), result: durationText(p50Ms) };
}

function plainRow(id: string, label: string, note: string): CheckRow {
  return {
    id,
    label,
    note,
    result: "–",
    absence: NOT_APPLICABLE,
    isAlarm: false,
    isViolation: false,
    first: null,
  };
}

function notApplicableRow(id: string, label: string, reason: string): CheckRow {
  return { ...plainRow(id, label, reason), result: null };
}

function firstOf(kind: string, evidence: CheckEvidence | null): FirstFinding | null {
  const first = evidence?.findings.find((finding) => finding.kind === kind);
  return first ? { name: first.name, atUs: first.atUs } : null;
}
