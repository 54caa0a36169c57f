import { plural } from "../services/number-text";
import { lostUpdatesIn } from "./checkers/lost-updates";
import { nextHolderOf } from "./fault-steps";
import type { Finding } from "./finding";
import { type History, operationsById, rowsOf } from "./history";
import { servedNs } from "./intervals";
import { memoize } from "./memoize";
import { type Interleaving, mergeSteps } from "./merge-steps";
import type { Operation, TimeField } from "./operation";
import { ALL_TIME_FIELDS, CRITICAL_SECTION_FIELDS } from "./steps";

/** More columns are hard to follow. */
export const MAX_ACTORS = 4;

/** Which steps to show for a kind of finding, and which to mark. */
interface FindingView {
  readonly fields: readonly TimeField[];
  readonly marked: readonly TimeField[];
  /** The operations whose steps are marked; a single operation is always marked. */
  readonly markedOps: "first" | "second" | "later" | "all";
}

const WRITE: readonly TimeField[] = ["writeNs", "committedNs"];
const READ_AND_WRITE: readonly TimeField[] = ["readNs", ...WRITE];
const REQUEST_TO_ANSWER: readonly TimeField[] = ["invokedNs", ...CRITICAL_SECTION_FIELDS, "answeredNs"];
const STALE_WRITE: readonly TimeField[] = ["leaseUntilNs", ...WRITE];
const grantView: FindingView = { fields: CRITICAL_SECTION_FIELDS, marked: ["grantedNs"], markedOps: "second" };
const answerView: FindingView = { fields: REQUEST_TO_ANSWER, marked: ["answeredNs"], markedOps: "all" };
const allStepsView: FindingView = { fields: ALL_TIME_FIELDS, marked: [], markedOps: "all" };

const FINDING_VIEWS: Partial<Readonly<Record<Finding["kind"], FindingView>>> = {
  oversold: { fields: CRITICAL_SECTION_FIELDS, marked: READ_AND_WRITE, markedOps: "first" },
  lostUpdates: { fields: CRITICAL_SECTION_FIELDS, marked: READ_AND_WRITE, markedOps: "second" },
  counterDrift: { fields: CRITICAL_SECTION_FIELDS, marked: READ_AND_WRITE, markedOps: "second" },
  undersold: { fields: REQUEST_TO_ANSWER, marked: WRITE, markedOps: "all" },
  negativeStock: { fields: CRITICAL_SECTION_FIELDS, marked: WRITE, markedOps: "all" },
  duplicateClaims: { fields: REQUEST_TO_ANSWER, marked: ["committedNs", "answeredNs"], markedOps: "later" },
  overlappingHolds: grantView,
  fencedOverlap: grantView,
  staleWrites: { fields: CRITICAL_SECTION_FIELDS, marked: STALE_WRITE, markedOps: "first" },
  refusedStaleWrite: { fields: CRITICAL_SECTION_FIELDS, marked: [], markedOps: "first" },
  fencingOrder: grantView,
  ticketOrder: { fields: REQUEST_TO_ANSWER, marked: ["invokedNs", "readNs", "answeredNs"], markedOps: "second" },
  acknowledgedRows: answerView,
  failoverLosses: answerView,
  unknownRows: { fields: REQUEST_TO_ANSWER, marked: ["committedNs", "answeredNs"], markedOps: "all" },
  refusedRows: answerView,
};

/** Explains a finding by the steps of the purchases that it names. O(n) in those purchases. */
export function interleavingOf(history: History, finding: Finding): Interleaving {
  const named = [...new Set(finding.opIds)].flatMap((opId) => operationsById(history).get(opId) ?? []);
  const ops = [...named, ...partnersOf(history, finding, named)];
  const view = FINDING_VIEWS[finding.kind] ?? allStepsView;
  const shown = overwriterSecond(history, finding, ops).slice(0, MAX_ACTORS);
  const marked = new Map(
    shown.map((op, index) => [op.opId, shown.length === 1 || isMarkedOp(view.markedOps, index) ? view.marked : []]),
  );
  return {
    ...mergeSteps(history, shown, { fields: view.fields, marked }),
    remarks: [
      ...remarksOn(history, finding, shown),
      ...commitRemarks(shown),
      ...omittedRemark(ops.length - shown.length),
    ],
  };
}

function isMarkedOp(markedOps: FindingView["markedOps"], index: number): boolean {
  if (markedOps === "later") return index > 0;
  return markedOps === "all" || index === (markedOps === "first" ? 0 : 1);
}

/**
 * A lost update's finding names the operations by read; the view marks the second, which must be the one that
 * overwrote.
 */
function overwriterSecond(history: History, { kind }: Finding, ops: readonly Operation[]): readonly Operation[] {
  const [a, b] = ops;
  return kind === "lostUpdates" && a && b && overwrittenBy(history).get(a) === b ? [b, a] : ops;
}

const overwrittenBy = memoize((history: History): ReadonlyMap<Operation, Operation> => {
  return new Map(lostUpdatesIn(history).map(({ first, second }) => [second, first]));
});

/** The operation that the finding does not name but that is needed to explain it. */
function partnersOf(history: History, { kind }: Finding, named: readonly Operation[]): Operation[] {
  const [op] = named;
  if (op && kind === "staleWrites" && named.length === 1) return [nextHolderOf(history, op) ?? []].flat();
  if (!op || kind !== "oversold") return [];
  const first = overwrittenBy(history).get(op);
  return first ? [first] : lastUnitBuyer(history, op);
}

/** The purchase that took the last unit in stock, unless it is the oversold purchase itself. */
function lastUnitBuyer(history: History, oversold: Operation): Operation[] {
  let left = history.run?.initial ?? 0;
  for (const { opId, quantity } of history.end?.orders ?? []) {
    left -= quantity;
    const op = left <= 0 ? operationsById(history).get(opId) : undefined;
    if (left <= 0) return op && op !== oversold ? [op] : [];
  }
  return [];
}

function remarksOn(history: History, finding: Finding, ops: readonly Operation[]): string[] {
  switch (finding.kind) {
    case "lostUpdates":
      return ops.length === 2 ? [lostUpdateRemark(ops)] : [];
    case "oversold":
      return [orderNumberRemark(history, ops[0])];
    case "acknowledgedRows":
    case "failoverLosses":
    case "unknownRows":
    case "refusedRows":
    case "duplicateClaims":
      return ops.map((op) => rowsRemark(history, op));
    case "strayRows":
      return ["The order is in the database, but no recorded purchase created it."];
    default:
      return [];
  }
}

function lostUpdateRemark(ops: readonly Operation[]): string {
  const taken = ops.reduce((sum, { quantity }) => sum + quantity, 0);
  const moved = Math.max(...ops.map(({ quantity }) => quantity));
  return `${plural(taken, "unit")} sold, but the stock fell by only ${moved}.`;
}

/** Explains values that another purchase seems to read too early, or that have no commit time. */
export function commitRemarks(ops: readonly Operation[]): string[] {
  const unknown = ops.filter(
    (op) => op.writeAccepted === true && op.writeNs !== undefined && op.committedNs === undefined,
  );
  const isBetween = ({ readNs = -1 }: Operation, { writeNs = Infinity, committedNs = -1 }: Operation) =>
    readNs > writeNs && readNs < committedNs;
  const isRead = ops.some((writer) => ops.some((reader) => reader !== writer && isBetween(reader, writer)));
  return [
    ...(isRead ? ["A commit takes effect between the write and its confirmation."] : []),
    ...unknown.map(({ node, buyerId }) => `The history has no commit time for the write of ${node} for ${buyerId}.`),
  ];
}

function orderNumberRemark(history: History, op: Operation | undefined): string {
  const orders = history.end?.orders ?? [];
  const position = orders.findIndex(({ opId }) => opId === op?.opId) + 1;
  const stock = plural(history.run?.initial ?? 0, "unit");
  return position > 0
    ? `Order number ${position} of a sale with a stock of ${stock}.`
    : `The initial stock was ${stock}.`;
}

function rowsRemark(history: History, op: Operation): string {
  const rows = rowsOf(history, op);
  if (rows.length === 0) return `The database has no order for the purchase of ${op.buyerId}.`;
  const names = rows.map(({ orderId, buyerId, quantity }) => `${orderId} (${buyerId}, ${plural(quantity, "unit")})`);
  return `The database has ${rows.length === 1 ? "order" : "orders"} ${names.join(", ")} for this purchase.`;
}

function omittedRemark(count: number): string[] {
  return count > 0 ? [`${plural(count, "more purchase")} ${count === 1 ? "is" : "are"} not shown.`] : [];
}

/** Two purchases show that one starts after the other ends. */
const MAX_SERVED = 2;

/** The steps of the first purchases served: an example of a run without violations. */
export function firstServedInterleaving(history: History): Interleaving {
  const served: Operation[] = [];
  for (const op of history.soldOps) {
    if ((op.writeNs ?? servedNs(op)) === undefined) continue;
    const index = served.findIndex((other) => byServiceOrder(op, other) < 0);
    served.splice(index === -1 ? served.length : index, 0, op);
    if (served.length > MAX_SERVED) served.pop();
  }
  return { ...mergeSteps(history, served, { fields: CRITICAL_SECTION_FIELDS, marked: new Map() }), remarks: [] };
}

/**
 * Sorts by grant. Without grants the written values give the order: the purchase that left more units was served first.
 */
function byServiceOrder(a: Operation, b: Operation): number {
  const hasValues = a.grantedNs === undefined && a.writtenValue !== undefined && b.writtenValue !== undefined;
  return hasValues ? (b.writtenValue ?? 0) - (a.writtenValue ?? 0) : servedOrWrittenNs(a) - servedOrWrittenNs(b);
}

function servedOrWrittenNs(op: Operation): number {
  return servedNs(op) ?? op.writeNs ?? op.invokedNs;
}
