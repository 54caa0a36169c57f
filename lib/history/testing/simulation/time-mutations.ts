import type { HistoryOpLine } from "../../types";
import { type Mutation, mutateOne, type Op, opsWith } from "./mutations";
import type { Sale } from "./sale";

const later = (text: string | undefined, byNs: number) => (BigInt(text ?? 0) + BigInt(byNs)).toString();

/** Mutations of times, for a counter. */
export const TICKET_MUTATIONS: readonly Mutation[] = [
  {
    name: "a purchase is answered sold out before the first request",
    expectedKinds: ["ticketOrder"],
    apply: (sale) => {
      if (sale.run.initial === 0) return false;
      sale.ops.push({ ...newOp(sale, "early"), outcome: "sold_out", invokedNs: "0", answeredNs: "0" });
      for (const op of sale.ops as Op[]) if (op.opId !== "early") shift(op, 1);
      return true;
    },
  },
  {
    name: "a unit is sold after the counter reached zero",
    expectedKinds: ["ticketOrder"],
    apply: (sale) => {
      if (sale.ops.some((op) => op.outcome === "error" || op.outcome === "unknown")) return false;
      const end = sale.ops.reduce((last, op) => Math.max(last, Number(op.answeredNs ?? 0)), 0);
      const [refusedAt, soldAt] = [end + 1, end + 3];
      const refused = { ...newOp(sale, "refused"), outcome: "sold_out", quantity: 1 } as const;
      sale.ops.push({ ...refused, invokedNs: String(refusedAt), answeredNs: String(refusedAt) });
      sale.ops.push({ ...newOp(sale, "late"), invokedNs: String(soldAt), answeredNs: String(soldAt + 1) });
      return true;
    },
  },
];

function newOp(sale: Sale, opId: string): HistoryOpLine {
  const node = sale.ops[0]?.node ?? "node-1";
  const host = sale.ops[0]?.host ?? "host-1";
  return { type: "op", opId, node, host, buyerId: opId, quantity: 1, invokedNs: "0", outcome: "sold" };
}

function shift(op: Op, byNs: number): void {
  for (const field of Object.keys(op) as (keyof HistoryOpLine)[]) {
    if (field.endsWith("Ns")) Object.assign(op, { [field]: later(op[field] as string, byNs) });
  }
}

/** Mutations of holds, for a lock without tokens. Times stay in a valid order. */
export const HOLD_MUTATIONS: readonly Mutation[] = [
  {
    name: "a holder keeps the lock after the next grant",
    expectedKinds: ["overlappingHolds"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale);
      if (!first || !second) return false;
      const end = later(second.grantedNs, 1);
      for (const field of ["releasedNs", "answeredNs"] as const) {
        if (BigInt(first[field] ?? 0) < BigInt(end)) first[field] = end;
      }
      extendTo(second, end);
      return true;
    },
  },
  {
    name: "a holder writes after it detected a lost lease",
    expectedKinds: ["staleWrites"],
    apply: mutateOne(
      (op) => op.writeAccepted === true && BigInt(op.writeNs ?? 0) > BigInt(op.grantedNs ?? 0),
      (op) => {
        op.leaseLostNs = op.grantedNs as string;
      },
    ),
  },
  {
    name: "two holders write from the same value",
    expectedKinds: ["lostUpdates"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale).filter((op) => op.writeAccepted);
      if (!first || !second || first.readValue === undefined) return false;
      second.readValue = first.readValue;
      second.writtenValue = first.readValue - second.quantity;
      return true;
    },
  },
];

/** Mutations of fencing tokens, for a lock with tokens. */
export const TOKEN_MUTATIONS: readonly Mutation[] = [
  {
    name: "a token is granted twice",
    expectedKinds: ["fencingOrder"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale);
      if (!first || !second || first.grantedNs === second.grantedNs) return false;
      second.fencingToken = first.fencingToken as string;
      return true;
    },
  },
  {
    name: "tokens restart at zero",
    expectedKinds: ["fencingOrder"],
    apply: (sale) => {
      const last = holdsInOrder(sale).at(-1);
      const before = holdsInOrder(sale).at(-2);
      if (!last || !before || last.grantedNs === before.grantedNs) return false;
      last.fencingToken = "0";
      return true;
    },
  },
  {
    name: "a stale write is accepted",
    expectedKinds: ["staleWrites"],
    apply: (sale) => {
      const holds = holdsInOrder(sale);
      const newer = holds.find((op, index) => index > 0 && op.readNs !== undefined);
      const older = newer && holds.find((op) => BigInt(op.fencingToken ?? 0) < BigInt(newer.fencingToken ?? 0));
      if (!newer || !older) return false;
      const writeNs = later(newer.readNs, 1);
      Object.assign(older, { writeNs, writtenValue: 0, readValue: 1, readNs: older.grantedNs, writeAccepted: true });
      extendTo(older, later(writeNs, 1));
      return true;
    },
  },
];

function holdsInOrder(sale: Sale): Op[] {
  const holds = opsWith(sale, (op) => op.grantedNs !== undefined);
  return holds.sort((a, b) => (BigInt(a.grantedNs ?? 0) < BigInt(b.grantedNs ?? 0) ? -1 : 1));
}

/** Moves the end of a hold to `end` or later, and keeps the order of its steps. */
function extendTo(op: Op, end: string): void {
  for (const field of ["committedNs", "releasedNs", "answeredNs"] as const) {
    const at = op[field];
    if (at !== undefined && BigInt(at) < BigInt(end)) op[field] = end;
  }
}
