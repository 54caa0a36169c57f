import { type History, rowsOf } from "./history";
import type { Operation, TimeField } from "./operation";

/** One thing an operation did at one moment, in words. */
export interface Step {
  readonly opId: string;
  readonly field: TimeField;
  /** On the operation's own host's clock. */
  readonly atNs: number;
  readonly text: string;
}

/** What a reader needs of every purchase; the other steps only where they are what went wrong. */
export const CRITICAL_SECTION_FIELDS: readonly TimeField[] = [
  "grantedNs",
  "readNs",
  "writeNs",
  "committedNs",
  "leaseLostNs",
  "releasedNs",
];
export const ALL_TIME_FIELDS: readonly TimeField[] = ["invokedNs", "waitNs", ...CRITICAL_SECTION_FIELDS, "answeredNs"];

const WORDS: Readonly<Record<TimeField, (op: Operation, history: History) => string>> = {
  invokedNs: ({ buyerId, quantity }) => `${buyerId} asks for ${quantity === 1 ? "1 unit" : `${quantity} units`}`,
  waitNs: () => "wait for the turn",
  grantedNs: ({ fencingToken }) => (fencingToken === undefined ? "enter" : `enter, fencing token ${fencingToken}`),
  readNs: ({ readValue }) => (readValue === undefined ? "read stock" : `read stock = ${readValue}`),
  writeNs: writeWords,
  committedNs: commitWords,
  leaseLostNs: () => "learn that the lease is lost",
  releasedNs: () => "leave",
  answeredNs: answerWords,
};

function writeWords(op: Operation): string {
  const { writtenValue, writeAccepted, readValue } = op;
  const verb = writeAccepted === false ? "try to write" : "write";
  if (writtenValue === undefined) return `${verb} stock`;
  return isAtomic(op) && readValue !== undefined
    ? `${verb} stock ${readValue} → ${writtenValue}`
    : `${verb} stock = ${writtenValue}`;
}

/** An atomic write reads nothing beforehand: what it found and what it left are one step. */
function isAtomic({ readNs, writeNs }: Operation): boolean {
  return writeNs !== undefined && (readNs === undefined || readNs === writeNs);
}

function commitWords(op: Operation, history: History): string {
  if (op.writeAccepted === false) return "write refused";
  const [row, ...more] = rowsOf(history, op);
  if (!row) return op.writeAccepted === true ? "write accepted, no order" : "reply";
  return more.length === 0 ? `order ${row.orderId}` : `orders ${[row, ...more].map((each) => each.orderId).join(", ")}`;
}

const ANSWERS: Readonly<Record<Operation["outcome"], string>> = {
  sold: "sold",
  sold_out: "sold out",
  contended: "try again",
  rejected: "refused by the limit",
  error: "error",
  unknown: "outcome unknown",
};

function answerWords({ outcome, orderId, buyerId }: Operation): string {
  const order = orderId === undefined ? "" : `, order ${orderId}`;
  return `tell ${buyerId} "${ANSWERS[outcome]}"${order}`;
}

/** The steps an operation recorded, in the order in which they can have happened. */
export function stepsOf(history: History, op: Operation, fields: readonly TimeField[]): Step[] {
  return fields.flatMap((field) => {
    const atNs = field === "readNs" && isAtomic(op) ? undefined : op[field];
    return atNs === undefined ? [] : [{ opId: op.opId, field, atNs, text: WORDS[field](op, history) }];
  });
}
