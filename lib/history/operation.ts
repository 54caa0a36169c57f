import type { HistoryFaultLine, HistoryOpLine, OperationOutcome } from "./types";

/** A host's monotonic clock. Its readings are kept as distances from its first, which plain numbers hold exactly. */
export interface HostClock {
  readonly host: string;
  readonly originNs: bigint;
}

/** One purchase. Times are nanoseconds since its clock's origin; undefined: the step never happened, or was not seen. */
export interface Operation {
  readonly opId: string;
  readonly node: string;
  readonly host: string;
  readonly clock: HostClock;
  readonly buyerId: string;
  readonly quantity: number;
  readonly idempotencyKey: string | undefined;
  readonly invokedNs: number;
  readonly waitNs: number | undefined;
  readonly grantedNs: number | undefined;
  readonly holderId: string | undefined;
  readonly transactional: boolean;
  readonly fencingToken: bigint | undefined;
  readonly readNs: number | undefined;
  readonly readValue: number | undefined;
  readonly writeNs: number | undefined;
  readonly writtenValue: number | undefined;
  readonly writeAccepted: boolean | undefined;
  readonly committedNs: number | undefined;
  readonly releasedNs: number | undefined;
  readonly leaseLostNs: number | undefined;
  readonly answeredNs: number | undefined;
  readonly poolWaitUs: number | undefined;
  readonly waitPoolUs: number | undefined;
  readonly holdPoolUs: number | undefined;
  readonly commitPoolUs: number | undefined;
  readonly outcome: OperationOutcome;
  readonly orderId: string | undefined;
}

/** A disturbance and how long it lasted, on the clock of the host it was made on. */
export interface Fault {
  readonly faultId: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

/** Makes operations of lines; those of one host share its clock. */
export class OperationReader {
  private readonly clocks = new Map<string, HostClock>();
  private readonly nodes = new Map<string, string>();

  read(line: HistoryOpLine): Operation {
    const clock = this.clockOf(line.host, line.invokedNs);
    return {
      opId: line.opId,
      node: this.nameOf(line.node),
      host: clock.host,
      clock,
      buyerId: line.buyerId,
      quantity: line.quantity,
      idempotencyKey: line.idempotencyKey,
      invokedNs: Number(BigInt(line.invokedNs) - clock.originNs),
      waitNs: since(clock, line.waitNs),
      grantedNs: since(clock, line.grantedNs),
      holderId: line.holderId,
      transactional: line.transactional === true,
      fencingToken: line.fencingToken === undefined ? undefined : BigInt(line.fencingToken),
      readNs: since(clock, line.readNs),
      readValue: line.readValue,
      writeNs: since(clock, line.writeNs),
      writtenValue: line.writtenValue,
      writeAccepted: line.writeAccepted,
      committedNs: since(clock, line.committedNs),
      releasedNs: since(clock, line.releasedNs),
      leaseLostNs: since(clock, line.leaseLostNs),
      answeredNs: since(clock, line.answeredNs),
      poolWaitUs: line.poolWaitUs,
      waitPoolUs: line.waitPoolUs,
      holdPoolUs: line.holdPoolUs,
      commitPoolUs: line.commitPoolUs,
      outcome: line.outcome,
      orderId: line.orderId,
    };
  }

  private clockOf(host: string, firstNs: string): HostClock {
    const known = this.clocks.get(host);
    if (known) return known;
    const clock = { host, originNs: BigInt(firstNs) };
    this.clocks.set(host, clock);
    return clock;
  }

  /** One string for all operations of a node. */
  private nameOf(node: string): string {
    const known = this.nodes.get(node);
    if (known !== undefined) return known;
    this.nodes.set(node, node);
    return node;
  }
}

function since({ originNs }: HostClock, text: string | undefined): number | undefined {
  return text === undefined ? undefined : Number(BigInt(text) - originNs);
}

export function readOperations(lines: readonly HistoryOpLine[]): Operation[] {
  const reader = new OperationReader();
  return lines.map((line) => reader.read(line));
}

export function toFault({ faultId, fromNs, toNs }: Pick<HistoryFaultLine, "faultId" | "fromNs" | "toNs">): Fault {
  return { faultId, fromNs: BigInt(fromNs), toNs: BigInt(toNs) };
}

/** A moment as the host's clock showed it, the way a history writes it; null where there is none. */
export function clockReading(op: Operation, ns: number | undefined): string | null {
  return ns === undefined ? null : (op.clock.originNs + BigInt(ns)).toString();
}

export type TimeField = Extract<keyof Operation, `${string}Ns`>;

/** The steps of a purchase that cannot come in another order. */
const ALWAYS: readonly (readonly [TimeField, TimeField])[] = [
  ["invokedNs", "waitNs"],
  ["waitNs", "grantedNs"],
  ["invokedNs", "grantedNs"],
  ["invokedNs", "readNs"],
  ["grantedNs", "readNs"],
  ["invokedNs", "writeNs"],
  ["grantedNs", "writeNs"],
  ["writeNs", "committedNs"],
  ["grantedNs", "releasedNs"],
  ["grantedNs", "leaseLostNs"],
  ["invokedNs", "answeredNs"],
];

/** The first two steps whose times are the wrong way round, if any. */
export function timesOutOfOrder(op: Operation): readonly [TimeField, TimeField] | null {
  const wrong = ALWAYS.find(([earlier, later]) => isAfter(op[earlier], op[later]));
  if (wrong) return wrong;
  // A refused write may be of an earlier try than the last read.
  if (op.writeAccepted === true && isAfter(op.readNs, op.writeNs)) return ["readNs", "writeNs"];
  // Who gave up waiting for the answer may still see the commit later.
  if (op.outcome !== "unknown" && isAfter(op.committedNs, op.answeredNs)) return ["committedNs", "answeredNs"];
  return null;
}

const LATEST_FIELDS: readonly TimeField[] = ["invokedNs", "committedNs", "releasedNs", "leaseLostNs", "answeredNs"];

/** A step more than 104 days from its clock's first reading: plain numbers no longer hold it exactly. */
export function hasTimeTooFar(op: Operation): boolean {
  return LATEST_FIELDS.some((field) => op[field] !== undefined && !Number.isSafeInteger(op[field]));
}

function isAfter(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a > b;
}
