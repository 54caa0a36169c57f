import { z } from "zod";
import { STEP_TIMES } from "./operation";

/** The lines of a history; docs/history-format.md explains the fields. Parsing drops unknown fields. */

/** A decimal string, because nanoseconds exceed the integers that a JSON number holds exactly. */
const NS_EXPECTED = "expected nanoseconds as a decimal string";
const ns = z.string().regex(/^\d{1,19}$/, NS_EXPECTED);
const name = z.string().min(1).max(500);

const runLine = z.object({
  type: z.literal("run"),
  runId: name,
  strategy: name,
  resource: name,
  initial: z.int().min(0),
  limitPerBuyer: z.int().min(1).nullable(),
  hosts: z.int().min(1),
  fencing: z.boolean().optional(),
  servedWithinMs: z.int().min(1).optional(),
});

/**
 * One check validates all strings of an operation: a run can have 100,000 of these lines, and a check per field is
 * slower.
 */
const opLine = z
  .object({
    type: z.literal("op"),
    fields: z.int().min(0).optional(),
    opId: z.string(),
    node: z.string(),
    host: z.string(),
    buyerId: z.string(),
    quantity: z.int(),
    idempotencyKey: z.string().optional(),
    invokedNs: z.string(),
    waitNs: z.string().optional(),
    grantedNs: z.string().optional(),
    holderId: z.string().optional(),
    transactional: z.boolean().optional(),
    fencingToken: z.string().optional(),
    readNs: z.string().optional(),
    readValue: z.int().optional(),
    writeNs: z.string().optional(),
    writtenValue: z.int().optional(),
    writeAccepted: z.boolean().optional(),
    committedNs: z.string().optional(),
    releasedNs: z.string().optional(),
    leaseLostNs: z.string().optional(),
    leaseUntilNs: z.string().optional(),
    answeredNs: z.string().optional(),
    poolWaitUs: z.int().min(0).optional(),
    waitPoolUs: z.int().min(0).optional(),
    holdPoolUs: z.int().min(0).optional(),
    commitPoolUs: z.int().min(0).optional(),
    outcome: z.enum(["sold", "sold_out", "contended", "rejected", "error", "unknown"]),
    orderId: z.string().optional(),
  })
  .check(({ value, issues }) => {
    const invalid = invalidField(value);
    if (invalid) issues.push({ code: "custom", path: [invalid.field], message: invalid.message, input: value });
  });

interface OpStrings extends Partial<Record<(typeof NAMES)[number] | (typeof TIMES)[number], string | undefined>> {
  readonly fencingToken?: string | undefined;
  readonly quantity: number;
}

function invalidField(line: OpStrings): { readonly field: string; readonly message: string } | null {
  for (const field of NAMES) if (!isName(line[field])) return { field, message: "expected 1 to 500 characters" };
  for (const field of TIMES) if (!isDecimal(line[field], 19)) return { field, message: NS_EXPECTED };
  if (!isDecimal(line.fencingToken, 30)) return { field: "fencingToken", message: "expected a decimal string" };
  return line.quantity < 1 ? { field: "quantity", message: "expected 1 or more" } : null;
}

const NAMES = ["opId", "node", "host", "buyerId", "idempotencyKey", "holderId", "orderId"] as const;
const TIMES = ["invokedNs", ...STEP_TIMES, "leaseUntilNs", "answeredNs"] as const;

function isName(text: string | undefined): boolean {
  return text === undefined || (text.length > 0 && text.length <= 500);
}

const DIGITS = /^\d+$/;

function isDecimal(text: string | undefined, maxDigits: number): boolean {
  return text === undefined || (text.length <= maxDigits && DIGITS.test(text));
}

const faultLine = z.object({
  type: z.literal("fault"),
  faultId: name,
  fromNs: ns,
  toNs: ns,
  proof: z.string(),
  stoppedNode: name.optional(),
  killedNode: name.optional(),
  promotedReplica: z.literal(true).optional(),
  slowedNode: name.optional(),
});

const order = z
  .object({
    orderId: z.string(),
    /** Empty if the row does not name its purchase. */
    opId: z.string(),
    buyerId: z.string(),
    quantity: z.int(),
  })
  .check(({ value, issues }) => {
    const isValid = isName(value.orderId) && isName(value.buyerId) && value.opId.length <= 500 && value.quantity >= 1;
    if (!isValid)
      issues.push({
        code: "custom",
        path: [],
        message: "expected an order with orderId, opId, buyerId and a quantity of 1 or more",
        input: value,
      });
  });

const endLine = z.object({
  type: z.literal("end"),
  final: z.int(),
  counter: z.int().nullable().optional(),
  orders: z.array(order),
  dropped: z.int().min(0),
  operations: z.int().min(0).optional(),
});

export const historyLineSchema = z.discriminatedUnion("type", [runLine, opLine, faultLine, endLine]);
