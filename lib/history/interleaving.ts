import { lostUpdatesIn } from "./checkers/lost-updates";
import { type Finding, plural } from "./finding";
import { type History, operationsById, rowsOf } from "./history";
import { servedNs } from "./intervals";
import { memoize } from "./memoize";
import { clockReading, type Operation, type TimeField } from "./operation";
import { ALL_TIME_FIELDS, CRITICAL_SECTION_FIELDS, type Step, stepsOf } from "./steps";

/** An operation as the reader meets it: who, for whom, and how it ended. */
export interface Actor {
  readonly opId: string;
  readonly node: string;
  readonly host: string;
  readonly buyerId: string;
  readonly outcome: Operation["outcome"];
}

export interface InterleavingStep extends Omit<Step, "atNs"> {
  /** Since the first step shown, by the clock of the actor's host. */
  readonly afterNs: number;
  /** What should not have happened, or should not have happened then. */
  readonly isMarked: boolean;
  /** Left out until a reader asks for every step. */
  readonly isDetail: boolean;
}

/** What several purchases did, line by line, in the order of the clock. */
export interface Interleaving {
  /** The order of their first steps; at most `MAX_ACTORS`. */
  readonly actors: readonly Actor[];
  readonly steps: readonly InterleavingStep[];
  /** When the first step was, as the host's clock showed it; null where nothing was recorded. */
  readonly fromNs: string | null;
  /** What has no moment: rows that were found after the run, sums, what was left out. */
  readonly remarks: readonly string[];
  /** False: the actors are of several hosts, and lines of two hosts stand in no order. */
  readonly isOneClock: boolean;
}

/** More columns than this nobody can follow. */
export const MAX_ACTORS = 4;

/** What to show of a kind: which steps tell something here, and which of them are wrong, and whose. */
interface FindingView {
  readonly fields: readonly TimeField[];
  readonly marked: readonly TimeField[];
  /** Whose steps are marked; a purchase that is alone in its finding always has them. */
  readonly who: "first" | "second" | "later" | "all";
}

const WRITE: readonly TimeField[] = ["writeNs", "committedNs"];
const READ_AND_WRITE: readonly TimeField[] = ["readNs", ...WRITE];
const ASKED_AND_TOLD: readonly TimeField[] = ["invokedNs", ...CRITICAL_SECTION_FIELDS, "answeredNs"];
const entered: FindingView = { fields: CRITICAL_SECTION_FIELDS, marked: ["grantedNs"], who: "second" };
const told: FindingView = { fields: ASKED_AND_TOLD, marked: ["answeredNs"], who: "all" };
const everything: FindingView = { fields: ALL_TIME_FIELDS, marked: [], who: "all" };

const FINDING_VIEWS: Partial<Readonly<Record<Finding["kind"], FindingView>>> = {
  oversold: { fields: CRITICAL_SECTION_FIELDS, marked: READ_AND_WRITE, who: "first" },
  lostUpdates: { fields: CRITICAL_SECTION_FIELDS, marked: READ_AND_WRITE, who: "second" },
  undersold: { fields: ASKED_AND_TOLD, marked: WRITE, who: "all" },
  negativeStock: { fields: CRITICAL_SECTION_FIELDS, marked: WRITE, who: "all" },
  duplicateClaims: { fields: ASKED_AND_TOLD, marked: ["committedNs", "answeredNs"], who: "later" },
  overlappingHolds: entered,
  fencedOverlap: entered,
  staleWrites: { fields: CRITICAL_SECTION_FIELDS, marked: WRITE, who: "first" },
  fencingOrder: entered,
  ticketOrder: { fields: ASKED_AND_TOLD, marked: ["invokedNs", "readNs", "answeredNs"], who: "second" },
  acknowledgedRows: told,
  unknownRows: { fields: ASKED_AND_TOLD, marked: ["committedNs", "answeredNs"], who: "all" },
  refusedRows: told,
};

/** The lines of a finding: what those it names did, and what made it wrong. O(n) in the purchases it names. */
export function interleavingOf(history: History, finding: Finding): Interleaving {
  const named = [...new Set(finding.opIds)].flatMap((opId) => operationsById(history).get(opId) ?? []);
  const ops = [...named, ...partnersOf(history, finding, named)];
  const lens = FINDING_VIEWS[finding.kind] ?? everything;
  const shown = inOrderOfBlame(history, finding, ops).slice(0, MAX_ACTORS);
  const marked = new Map(
    shown.map((op, index) => [op.opId, shown.length === 1 || isMeant(lens.who, index) ? lens.marked : []]),
  );
  return {
    ...weave(history, shown, { fields: lens.fields, marked }),
    remarks: [...remarksOn(history, finding, shown), ...leftOut(ops.length - shown.length)],
  };
}

function isMeant(who: FindingView["who"], index: number): boolean {
  if (who === "later") return index > 0;
  return who === "all" || index === (who === "first" ? 0 : 1);
}

/** A lost update's finding names the readers in their order; it is the later writer whose write went over the other's. */
function inOrderOfBlame(history: History, { kind }: Finding, ops: readonly Operation[]): readonly Operation[] {
  const [a, b] = ops;
  return kind === "lostUpdates" && a && b && losersOf(history).get(a) === b ? [b, a] : ops;
}

const losersOf = memoize((history: History): ReadonlyMap<Operation, Operation> => {
  return new Map(lostUpdatesIn(history).map(({ first, second }) => [second, first]));
});

/** Whom the finding does not name and without whom it cannot be understood. */
function partnersOf(history: History, { kind }: Finding, named: readonly Operation[]): Operation[] {
  const [op] = named;
  if (!op || kind !== "oversold") return [];
  const first = losersOf(history).get(op);
  return first ? [first] : lastInStock(history, op);
}

/** The purchase that took the last unit there was, where another than the one beyond it. */
function lastInStock(history: History, beyond: Operation): Operation[] {
  let left = history.run?.initial ?? 0;
  for (const { opId, quantity } of history.end?.orders ?? []) {
    left -= quantity;
    const op = left <= 0 ? operationsById(history).get(opId) : undefined;
    if (left <= 0) return op && op !== beyond ? [op] : [];
  }
  return [];
}

interface Weave {
  readonly fields: readonly TimeField[];
  readonly marked: ReadonlyMap<string, readonly TimeField[]>;
}

function weave(history: History, ops: readonly Operation[], { fields, marked }: Weave): Omit<Interleaving, "remarks"> {
  const all = ops.flatMap((op) => stepsOf(history, op, ALL_TIME_FIELDS));
  const shown = all.filter(({ field }) => fields.includes(field));
  const firstNs = Math.min(...(shown.length > 0 ? shown : all).map(({ atNs }) => atNs));
  const steps = all
    .map(({ atNs, ...step }) => ({
      ...step,
      afterNs: atNs - firstNs,
      isMarked: marked.get(step.opId)?.includes(step.field) ?? false,
      isDetail: !fields.includes(step.field),
    }))
    // Of equal moments the recorder's order stands: all of one purchase, step by step.
    .sort((a, b) => a.afterNs - b.afterNs);
  const places = new Map(steps.map(({ opId }, index) => [opId, index] as const).reverse());
  const actors = [...ops].sort((a, b) => (places.get(a.opId) ?? 0) - (places.get(b.opId) ?? 0));
  const [first] = actors;
  return {
    actors: actors.map(({ opId, node, host, buyerId, outcome }) => ({ opId, node, host, buyerId, outcome })),
    steps,
    fromNs: first && steps.length > 0 ? clockReading(first, firstNs) : null,
    isOneClock: new Set(ops.map(({ host }) => host)).size <= 1,
  };
}

function remarksOn(history: History, finding: Finding, ops: readonly Operation[]): string[] {
  switch (finding.kind) {
    case "lostUpdates":
      return ops.length === 2 ? [lostUpdateRemark(ops)] : [];
    case "oversold":
      return [orderNumber(history, ops[0])];
    case "acknowledgedRows":
    case "unknownRows":
    case "refusedRows":
    case "duplicateClaims":
      return ops.map((op) => rowsInWords(history, op));
    case "strayRows":
      return ["Found in the database after the run; no recorded purchase made it."];
    default:
      return [];
  }
}

function lostUpdateRemark(ops: readonly Operation[]): string {
  const taken = ops.reduce((sum, { quantity }) => sum + quantity, 0);
  const moved = Math.max(...ops.map(({ quantity }) => quantity));
  return `${plural(taken, "unit")} sold, and the stock fell by ${moved}.`;
}

function orderNumber(history: History, op: Operation | undefined): string {
  const orders = history.end?.orders ?? [];
  const place = orders.findIndex(({ opId }) => opId === op?.opId) + 1;
  const stock = plural(history.run?.initial ?? 0, "unit");
  return place > 0 ? `Order number ${place} of a sale that had ${stock}.` : `There were ${stock}.`;
}

function rowsInWords(history: History, op: Operation): string {
  const rows = rowsOf(history, op);
  if (rows.length === 0) return `The database has no order of ${op.buyerId}'s purchase.`;
  const names = rows.map(({ orderId, buyerId, quantity }) => `${orderId} (${buyerId}, ${plural(quantity, "unit")})`);
  return `The database has for it: ${names.join(", ")}.`;
}

function leftOut(count: number): string[] {
  return count > 0 ? [`${plural(count, "more purchase")} ${count === 1 ? "is" : "are"} not shown.`] : [];
}

/** The first buyers who were served, one after the other: what it looks like when nothing goes wrong. */
export function firstServedInterleaving(history: History, count = 2): Interleaving {
  const served: Operation[] = [];
  for (const op of history.soldOps) {
    if ((op.writeNs ?? servedNs(op)) === undefined) continue;
    const place = served.findIndex((other) => byTurn(op, other) < 0);
    served.splice(place === -1 ? served.length : place, 0, op);
    if (served.length > count) served.pop();
  }
  return { ...weave(history, served, { fields: CRITICAL_SECTION_FIELDS, marked: new Map() }), remarks: [] };
}

/** With a lock the turn is the grant; without one it is what the row says: whoever left more was served before. */
function byTurn(a: Operation, b: Operation): number {
  const hasTickets = a.grantedNs === undefined && a.writtenValue !== undefined && b.writtenValue !== undefined;
  return hasTickets ? (b.writtenValue ?? 0) - (a.writtenValue ?? 0) : turnNs(a) - turnNs(b);
}

function turnNs(op: Operation): number {
  return servedNs(op) ?? op.writeNs ?? op.invokedNs;
}
