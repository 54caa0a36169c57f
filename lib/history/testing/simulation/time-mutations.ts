import type { HistoryOpLine } from "../../types";
import { type Mutation, type Op, opsWith, toOne } from "./mutations";
import type { Sale } from "./sale";

const later = (text: string | undefined, byNs: number) => (BigInt(text ?? 0) + BigInt(byNs)).toString();

/** What can be done to times, for a counter: it must show in the tickets. */
export const TICKET_MUTATIONS: readonly Mutation[] = [
  {
    name: "somebody is told sold out before anybody came",
    shows: ["ticketOrder"],
    apply: (sale) => {
      if (sale.run.initial === 0) return false;
      sale.ops.push({ ...visitor(sale, "early"), outcome: "sold_out", invokedNs: "0", answeredNs: "0" });
      for (const op of sale.ops as Op[]) if (op.opId !== "early") shift(op, 1);
      return true;
    },
  },
  {
    name: "a unit is sold after everything was",
    shows: ["ticketOrder"],
    apply: (sale) => {
      if (sale.ops.some((op) => op.outcome === "error" || op.outcome === "unknown")) return false;
      const end = sale.ops.reduce((last, op) => Math.max(last, Number(op.answeredNs ?? 0)), 0);
      const [toldAt, soldAt] = [end + 1, end + 3];
      const refused = { ...visitor(sale, "told"), outcome: "sold_out", quantity: 1 } as const;
      sale.ops.push({ ...refused, invokedNs: String(toldAt), answeredNs: String(toldAt) });
      sale.ops.push({ ...visitor(sale, "late"), invokedNs: String(soldAt), answeredNs: String(soldAt + 1) });
      return true;
    },
  },
];

function visitor(sale: Sale, opId: string): HistoryOpLine {
  const node = sale.ops[0]?.node ?? "node-1";
  const host = sale.ops[0]?.host ?? "host-1";
  return { type: "op", opId, node, host, buyerId: opId, quantity: 1, invokedNs: "0", outcome: "sold" };
}

function shift(op: Op, byNs: number): void {
  for (const field of Object.keys(op) as (keyof HistoryOpLine)[]) {
    if (field.endsWith("Ns")) Object.assign(op, { [field]: later(op[field] as string, byNs) });
  }
}

/** What can be done to the holds of a lock without tokens. Times are left in order, so that only the wrong is wrong. */
export const HOLD_MUTATIONS: readonly Mutation[] = [
  {
    name: "a holder stays inside while the next enters",
    shows: ["overlappingHolds"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale);
      if (!first || !second) return false;
      const end = later(second.grantedNs, 1);
      for (const field of ["releasedNs", "answeredNs"] as const) {
        if (BigInt(first[field] ?? 0) < BigInt(end)) first[field] = end;
      }
      stretch(second, end);
      return true;
    },
  },
  {
    name: "a holder writes after it learned that its lease was lost",
    shows: ["staleWrites"],
    apply: toOne(
      (op) => op.writeAccepted === true && BigInt(op.writeNs ?? 0) > BigInt(op.grantedNs ?? 0),
      (op) => {
        op.leaseLostNs = op.grantedNs as string;
      },
    ),
  },
  {
    name: "two holders write from one value",
    shows: ["lostUpdates"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale).filter((op) => op.writeAccepted);
      if (!first || !second || first.readValue === undefined) return false;
      second.readValue = first.readValue;
      second.writtenValue = first.readValue - second.quantity;
      return true;
    },
  },
];

/** What can be done to the fencing tokens of a lock that has them. */
export const TOKEN_MUTATIONS: readonly Mutation[] = [
  {
    name: "a token is granted twice",
    shows: ["fencingOrder"],
    apply: (sale) => {
      const [first, second] = holdsInOrder(sale);
      if (!first || !second || first.grantedNs === second.grantedNs) return false;
      second.fencingToken = first.fencingToken as string;
      return true;
    },
  },
  {
    name: "tokens start again from nothing",
    shows: ["fencingOrder"],
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
    shows: ["staleWrites"],
    apply: (sale) => {
      const holds = holdsInOrder(sale);
      const newer = holds.find((op, index) => index > 0 && op.readNs !== undefined);
      const older = newer && holds.find((op) => BigInt(op.fencingToken ?? 0) < BigInt(newer.fencingToken ?? 0));
      if (!newer || !older) return false;
      const writeNs = later(newer.readNs, 1);
      Object.assign(older, { writeNs, writtenValue: 0, readValue: 1, readNs: older.grantedNs, writeAccepted: true });
      stretch(older, later(writeNs, 1));
      return true;
    },
  },
];

function holdsInOrder(sale: Sale): Op[] {
  const holds = opsWith(sale, (op) => op.grantedNs !== undefined);
  return holds.sort((a, b) => (BigInt(a.grantedNs ?? 0) < BigInt(b.grantedNs ?? 0) ? -1 : 1));
}

/** Moves what comes last in a hold behind `end`, in its order. */
function stretch(op: Op, end: string): void {
  for (const field of ["committedNs", "releasedNs", "answeredNs"] as const) {
    const at = op[field];
    if (at !== undefined && BigInt(at) < BigInt(end)) op[field] = end;
  }
}
