import { plural } from "../services/number-text";
import { staleWritesIn } from "./checkers/stale-writes";
import { type History, rowsOf } from "./history";
import { memoize } from "./memoize";
import type { Operation, TimeField } from "./operation";
import { refusedWritesIn } from "./refused-writes";

/** One step of an operation, with a text for the reader. */
export interface Step {
  readonly opId: string;
  readonly field: TimeField;
  /** By the clock of the operation's host. */
  readonly atNs: number;
  readonly text: string;
}

/** The steps that explain most findings. */
export const CRITICAL_SECTION_FIELDS: readonly TimeField[] = [
  "grantedNs",
  "readNs",
  "writeNs",
  "committedNs",
  "leaseUntilNs",
  "leaseLostNs",
  "releasedNs",
];
export const ALL_TIME_FIELDS: readonly TimeField[] = ["invokedNs", "waitNs", ...CRITICAL_SECTION_FIELDS, "answeredNs"];

const TEXTS: Readonly<Record<TimeField, (op: Operation, history: History) => string>> = {
  invokedNs: ({ buyerId, quantity }) => `${buyerId} requests ${plural(quantity, "unit")}`,
  waitNs: () => "start waiting",
  grantedNs: ({ fencingToken }) =>
    fencingToken === undefined ? "acquire lock" : `acquire lock, fencing token ${fencingToken}`,
  readNs: ({ readValue }) => (readValue === undefined ? "read stock" : `read stock = ${readValue}`),
  writeNs: writeText,
  committedNs: commitText,
  leaseUntilNs: () => "lease expires",
  leaseLostNs: () => "detect lost lease",
  releasedNs: () => "release lock",
  answeredNs: answerText,
};

function writeText(op: Operation, history: History): string {
  const { writtenValue, readValue } = op;
  const fate = writeFate(op, history);
  if (writtenValue === undefined) return `write stock${fate}`;
  return isAtomic(op) && readValue !== undefined
    ? `write stock ${readValue} → ${writtenValue}${fate}`
    : `write stock = ${writtenValue}${fate}`;
}

/** What the resource did with a write of a stale holder, or with one that it refused. */
function writeFate(op: Operation, history: History): string {
  const stale = staleWritesByOp(history).get(op);
  if (stale) return `: ACCEPTED${tokenText(op, stale.newer)}`;
  return op.writeAccepted === false ? `: REFUSED${tokenText(op, refusedWritesByOp(history).get(op)?.newer)}` : "";
}

function tokenText({ fencingToken }: Operation, newer: Operation | null | undefined): string {
  if (newer?.fencingToken === undefined || fencingToken === undefined) return "";
  return ` (token ${fencingToken} < ${newer.fencingToken})`;
}

const staleWritesByOp = memoize((history: History) => new Map(staleWritesIn(history).map((each) => [each.op, each])));
const refusedWritesByOp = memoize(
  (history: History) => new Map(refusedWritesIn(history).map((each) => [each.op, each])),
);

/** An atomic write has no separate read: the value found and the value left are one step. */
function isAtomic({ readNs, writeNs }: Operation): boolean {
  return writeNs !== undefined && (readNs === undefined || readNs === writeNs);
}

function commitText(op: Operation, history: History): string {
  if (op.writeAccepted === false) return "write refused";
  const [row, ...more] = rowsOf(history, op);
  if (!row) return op.writeAccepted === true ? "COMMIT confirmed, no order" : "reply received";
  const names = [row, ...more].map(({ orderId }) => orderId).join(", ");
  return `COMMIT confirmed, ${more.length === 0 ? "order" : "orders"} ${names}`;
}

const ANSWERS: Readonly<Record<Operation["outcome"], string>> = {
  sold: "sold",
  sold_out: "sold out",
  contended: "contended",
  rejected: "limit reached",
  error: "error",
  unknown: "outcome unknown",
};

function answerText({ outcome, orderId, buyerId }: Operation): string {
  const order = orderId === undefined ? "" : `, order ${orderId}`;
  return `answer "${ANSWERS[outcome]}" to ${buyerId}${order}`;
}

/** The recorded steps of an operation, from request to answer. */
export function stepsOf(history: History, op: Operation): Step[] {
  return ALL_TIME_FIELDS.flatMap((field) => {
    const atNs = isOwnStep(op, field) ? op[field] : undefined;
    return atNs === undefined ? [] : [{ opId: op.opId, field, atNs, text: TEXTS[field](op, history) }];
  });
}

/** An atomic write includes its read, and the end of a lease is a step only if the holder still had a write to do. */
function isOwnStep(op: Operation, field: TimeField): boolean {
  if (field === "readNs") return !isAtomic(op);
  return field !== "leaseUntilNs" || (op.leaseUntilNs ?? Infinity) < (op.writeNs ?? Infinity);
}
