import { plural } from "./finding";
import { type History, rowsOf } from "./history";
import type { Operation, TimeField } from "./operation";

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
  leaseLostNs: () => "detect lost lease",
  releasedNs: () => "release lock",
  answeredNs: answerText,
};

function writeText(op: Operation): string {
  const { writtenValue, writeAccepted, readValue } = op;
  const verb = writeAccepted === false ? "try to write" : "write";
  if (writtenValue === undefined) return `${verb} stock`;
  return isAtomic(op) && readValue !== undefined
    ? `${verb} stock ${readValue} → ${writtenValue}`
    : `${verb} stock = ${writtenValue}`;
}

/** An atomic write has no separate read: the value found and the value left are one step. */
function isAtomic({ readNs, writeNs }: Operation): boolean {
  return writeNs !== undefined && (readNs === undefined || readNs === writeNs);
}

function commitText(op: Operation, history: History): string {
  if (op.writeAccepted === false) return "write rejected";
  const [row, ...more] = rowsOf(history, op);
  if (!row) return op.writeAccepted === true ? "write accepted, no order" : "reply received";
  return more.length === 0 ? `order ${row.orderId}` : `orders ${[row, ...more].map((each) => each.orderId).join(", ")}`;
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
    const atNs = field === "readNs" && isAtomic(op) ? undefined : op[field];
    return atNs === undefined ? [] : [{ opId: op.opId, field, atNs, text: TEXTS[field](op, history) }];
  });
}
