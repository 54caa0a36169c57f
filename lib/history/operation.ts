import type { HistoryFaultLine, HistoryOpLine, OperationOutcome } from "./types";

/**
 * A host's monotonic clock. Readings are stored as offsets from its first reading, which a number holds exactly for 104
 * days.
 */
export interface HostClock {
  readonly host: string;
  readonly originNs: bigint;
}

/**
 * One call of a purchase. Times are nanoseconds since the clock's origin; undefined if the step did not happen or was
 * not recorded.
 */
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
  readonly leaseUntilNs: number | undefined;
  readonly answeredNs: number | undefined;
  readonly poolWaitUs: number | undefined;
  readonly waitPoolUs: number | undefined;
  readonly holdPoolUs: number | undefined;
  readonly commitPoolUs: number | undefined;
  readonly outcome: OperationOutcome;
  readonly orderId: string | undefined;
}

/** An injected fault. Times are readings of the clock of the host that injected it. */
export interface Fault {
  readonly faultId: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** The store node whose process the fault stopped. */
  readonly stoppedNode?: string;
  /** The store node whose process the fault killed. */
  readonly killedNode?: string;
  /** The fault promoted a replica of the database. Orders that the replica did not have are gone. */
  readonly promotedReplica?: true;
  /** The store node on which the fault delayed the work of one holder. */
  readonly slowedNode?: string;
}

/** Converts op lines to operations. Operations of one host share one clock object. */
export class OperationReader {
  private readonly clocks = new Map<string, HostClock>();
  private readonly nodes = new Map<string, string>();

  read(line: HistoryOpLine): Operation {
    const clock = this.clockOf(line.host, line.invokedNs);
    return {
      opId: line.opId,
      node: this.internNode(line.node),
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
      leaseUntilNs: since(clock, line.leaseUntilNs),
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

  /** Saves memory: all operations of a node share one string. */
  private internNode(node: string): string {
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

export function toFault(line: Omit<HistoryFaultLine, "type" | "proof">): Fault {
  const { faultId, fromNs, toNs, stoppedNode, killedNode, promotedReplica, slowedNode } = line;
  return {
    faultId,
    fromNs: BigInt(fromNs),
    toNs: BigInt(toNs),
    ...(stoppedNode === undefined ? {} : { stoppedNode }),
    ...(killedNode === undefined ? {} : { killedNode }),
    ...(promotedReplica === undefined ? {} : { promotedReplica }),
    ...(slowedNode === undefined ? {} : { slowedNode }),
  };
}

/** Converts an offset back to a clock reading in the history's format. */
export function clockReading(op: Operation, ns: number | undefined): string | null {
  return ns === undefined ? null : (op.clock.originNs + BigInt(ns)).toString();
}

export type TimeField = Extract<keyof Operation, `${string}Ns`>;

/** The steps between request and answer. */
export const STEP_TIMES = [
  "waitNs",
  "grantedNs",
  "readNs",
  "writeNs",
  "committedNs",
  "releasedNs",
  "leaseLostNs",
] as const satisfies readonly TimeField[];

/** Pairs of steps whose order is fixed. */
const FIXED_ORDER: readonly (readonly [TimeField, TimeField])[] = [
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

/** @returns the first two steps in the wrong order, or null */
export function timesOutOfOrder(op: Operation): readonly [TimeField, TimeField] | null {
  const wrong = FIXED_ORDER.find(([earlier, later]) => isAfter(op[earlier], op[later]));
  if (wrong) return wrong;
  // A rejected write may belong to an earlier attempt than the last read.
  if (op.writeAccepted === true && isAfter(op.readNs, op.writeNs)) return ["readNs", "writeNs"];
  // After a timeout the recorder may still see later steps.
  if (op.outcome === "unknown") return null;
  const late = STEP_TIMES.find((field) => isAfter(op[field], op.answeredNs));
  return late === undefined ? null : [late, "answeredNs"];
}

const LATEST_FIELDS: readonly TimeField[] = ["invokedNs", "committedNs", "releasedNs", "leaseLostNs", "answeredNs"];

/** True if a step is more than 104 days from the clock's first reading: a number cannot hold it exactly. */
export function hasTimeTooFar(op: Operation): boolean {
  return LATEST_FIELDS.some((field) => op[field] !== undefined && !Number.isSafeInteger(op[field]));
}

function isAfter(a: number | undefined, b: number | undefined): boolean {
  return a !== undefined && b !== undefined && a > b;
}
