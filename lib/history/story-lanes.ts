import { actorNames } from "./describe";
import { type ClockedFault, clockedFaults, isHolderStruckBy } from "./fault-steps";
import { type History, hasAcceptedWrite, operationsById, orderPlaces } from "./history";
import { byHost, lastSeenNs } from "./intervals";
import type { Interleaving } from "./merge-steps";
import type { Operation } from "./operation";

/** The state of one lane for a time. Times are nanoseconds after the first step of the story. */
export interface LaneSegment {
  readonly fromNs: number;
  readonly toNs: number;
  /** `expired`: a holder that goes on after its lease. `rises`: the stock is higher than before, so a write undid a sale. */
  readonly state: "waits" | "holds" | "expired" | "stopped" | "held" | "others" | "value" | "rises";
  readonly text: string;
}

/** A purchase, the lock or the stock over the time of a story. Segments do not overlap. */
export interface StoryLane {
  readonly kind: "purchase" | "lock" | "stock";
  readonly name: string;
  readonly segments: readonly LaneSegment[];
  /** The text of the state at each step that is shown. */
  readonly states: readonly string[];
}

/** The time that a story covers, by the clock of its host. */
interface Window {
  readonly fromNs: number;
  readonly toNs: number;
  /** The times of the steps that are shown, ascending. */
  readonly stepsNs: readonly number[];
}

const NO_STATE = "–";

/** One lane per purchase, one for the lock if there is one, and one for the stock if its values were recorded. O(n log n). */
export function lanesOf(history: History, { actors, steps, fromNs }: Interleaving): StoryLane[] {
  const ops = actors.flatMap(({ opId }) => operationsById(history).get(opId) ?? []);
  const [first] = ops;
  if (!first || fromNs === null) return [];
  const originNs = Number(BigInt(fromNs) - first.clock.originNs);
  const shown = steps.filter(({ isDetail }) => !isDetail).map(({ afterNs }) => originNs + afterNs);
  const window = { fromNs: originNs, toNs: Math.max(...shown), stepsNs: shown };
  const faults = clockedFaults(history);
  const onHost = byHost(history.ops).get(first.host) ?? [];
  const lanes = [
    ...ops.map((op) => purchaseLane(op, { window, faults, name: nameIn(ops, op) })),
    ...lockLane(onHost, { window, faults, ops }),
    ...stockLane(history, onHost, window),
  ];
  return lanes.map((lane) => ({ ...lane, segments: lane.segments.map((segment) => after(segment, originNs)) }));
}

function after({ fromNs, toNs, ...segment }: LaneSegment, originNs: number): LaneSegment {
  return { ...segment, fromNs: fromNs - originNs, toNs: toNs - originNs };
}

/** The node, with the buyer if another purchase of the story ran on the same node. */
function nameIn(ops: readonly Operation[], op: Operation): string {
  const same = ops.find((other) => other !== op && other.node === op.node);
  return same ? actorNames(op, same)[0] : op.node;
}

interface PurchaseOptions {
  readonly window: Window;
  readonly faults: readonly ClockedFault[];
  readonly name: string;
}

type State = Pick<LaneSegment, "state" | "text">;

function purchaseLane(op: Operation, { window, faults, name }: PurchaseOptions): StoryLane {
  // A holder whose work is delayed goes on.
  const stops = faults.filter((fault) => fault.fault.slowedNode === undefined && isHolderStruckBy(fault, op));
  const times = [op.waitNs, op.grantedNs, op.readNs, op.writeNs, op.leaseUntilNs, op.leaseLostNs, endOfWork(op)];
  const cuts = [...times.flatMap((ns) => ns ?? []), ...stops.flatMap(({ fromNs, toNs }) => [fromNs, toNs])];
  const segments = intervalsOf(window, cuts).flatMap(([fromNs, toNs]): LaneSegment[] => {
    const state = stateAt(op, stops, fromNs);
    return state === null ? [] : [{ fromNs, toNs, ...state }];
  });
  const states = window.stepsNs.map((ns) => stateAt(op, stops, ns)?.text ?? NO_STATE);
  return { kind: "purchase", name, segments: merged(segments), states };
}

function stateAt(op: Operation, stops: readonly ClockedFault[], ns: number): State | null {
  for (const { fault, fromNs, toNs } of stops) {
    if (fault.killedNode !== undefined && ns >= fromNs) return { state: "stopped", text: "killed" };
    if (ns >= fromNs && ns < toNs) return { state: "stopped", text: "paused" };
  }
  const enteredNs = op.grantedNs ?? op.readNs ?? op.writeNs ?? Infinity;
  const isKilled = stops.some(({ fault }) => fault.killedNode !== undefined);
  if (ns >= endOfWork(op) && !isKilled) return null;
  if (ns < enteredNs) return ns >= (op.waitNs ?? Infinity) ? { state: "waits", text: "waits" } : null;
  if (op.grantedNs === undefined) return { state: "holds", text: "reads and writes" };
  const isLate = ns >= (leaseEndOf(op) ?? Infinity);
  return isLate ? { state: "expired", text: "lease expired" } : { state: "holds", text: "has the lock" };
}

/** The end of the lease, if the purchase still had work to do. */
function leaseEndOf(op: Operation): number | undefined {
  const { leaseUntilNs, leaseLostNs } = op;
  const isEarly = leaseUntilNs !== undefined && leaseUntilNs < (op.writeNs ?? -Infinity);
  return isEarly ? Math.min(leaseUntilNs, leaseLostNs ?? Infinity) : leaseLostNs;
}

function endOfWork(op: Operation): number {
  return op.releasedNs ?? op.answeredNs ?? op.committedNs ?? lastSeenNs(op);
}

interface LockOptions {
  readonly window: Window;
  readonly faults: readonly ClockedFault[];
  /** The purchases of the story; all others are "others". */
  readonly ops: readonly Operation[];
}

/** The newest grant counts: from it on, no earlier holder has the lock. */
function lockLane(onHost: readonly Operation[], { window, faults, ops }: LockOptions): StoryLane[] {
  const holders = onHost.filter(({ grantedNs }) => grantedNs !== undefined && grantedNs <= window.toNs);
  if (holders.length === 0) return [];
  holders.sort((a, b) => (a.grantedNs ?? 0) - (b.grantedNs ?? 0));
  const segments: LaneSegment[] = [];
  for (const [index, op] of holders.entries()) {
    const isKilled = faults.some((fault) => fault.fault.killedNode !== undefined && isHolderStruckBy(fault, op));
    const endNs = isKilled ? (op.leaseUntilNs ?? Infinity) : Math.min(endOfWork(op), leaseEndOf(op) ?? Infinity);
    const toNs = Math.min(endNs, holders[index + 1]?.grantedNs ?? Infinity);
    const fromNs = Math.max(op.grantedNs ?? 0, window.fromNs);
    if (toNs <= fromNs) continue;
    const isOwn = ops.includes(op);
    const last = segments.at(-1);
    if (!isOwn && last?.state === "others") segments[segments.length - 1] = { ...last, toNs };
    else segments.push({ fromNs, toNs, state: isOwn ? "held" : "others", text: isOwn ? nameIn(ops, op) : "others" });
  }
  const holderAt = (ns: number) => segments.find(({ fromNs, toNs }) => ns >= fromNs && ns < toNs)?.text ?? "free";
  const inWindow = segments.map((segment) => ({ ...segment, toNs: Math.min(segment.toNs, window.toNs) }));
  return [{ kind: "lock", name: "lock", segments: inWindow, states: window.stepsNs.map(holderAt) }];
}

interface Write {
  readonly atNs: number;
  readonly value: number;
}

/** The stock from step to step. */
function stockLane(history: History, onHost: readonly Operation[], window: Window): StoryLane[] {
  const writes = writesInOrder(history, onHost);
  const { run } = history;
  if (writes.length === 0 || !run) return [];
  /** The number of writes until then. */
  const countAt = (ns: number) => firstAfter(writes, ns);
  const valueAfter = (count: number) => writes[count - 1]?.value ?? run.initial;
  const segments = intervalsOf(window, window.stepsNs).map(([fromNs, toNs]): LaneSegment => {
    const count = countAt(fromNs);
    // A write at the end of the interval belongs to the next one.
    const inside = writes.slice(count, countAt(toNs - 1)).map(({ value }) => value);
    const values = [valueAfter(count - 1), valueAfter(count), ...inside];
    const peak = values.find((value, index) => index > 0 && value > (values[index - 1] ?? value));
    const shown = [valueAfter(count), ...(peak === undefined ? [] : [peak]), inside.at(-1) ?? valueAfter(count)];
    const text = shown.filter((value, index) => value !== shown[index - 1]).join(" to ");
    return { fromNs, toNs, state: peak === undefined ? "value" : "rises", text };
  });
  const states = window.stepsNs.map((ns) => String(valueAfter(countAt(ns))));
  return [{ kind: "stock", name: "stock", segments: merged(segments), states }];
}

/**
 * The accepted writes with the latest time at which each took effect. A busy node confirms a write late, so that is before its
 * own confirmation and before that of every write after it, in the order in which the database inserted the orders.
 */
function writesInOrder(history: History, onHost: readonly Operation[]): Write[] {
  const placeOf = ({ opId }: Operation) => orderPlaces(history).get(opId) ?? -1;
  const accepted = onHost.filter((op) => op.writtenValue !== undefined && hasAcceptedWrite(history, op));
  const toWrite = (op: Operation) => ({ atNs: op.committedNs ?? op.writeNs ?? Infinity, value: op.writtenValue ?? 0 });
  const ordered = accepted.filter((op) => placeOf(op) >= 0).sort((a, b) => placeOf(a) - placeOf(b));
  let latestNs = Infinity;
  const inOrder = ordered.reverse().map((op): Write => {
    const write = toWrite(op);
    latestNs = Math.min(latestNs, write.atNs);
    return { ...write, atNs: latestNs };
  });
  const others = accepted.filter((op) => placeOf(op) < 0).map(toWrite);
  // The sort is stable: writes at the same time keep the order of the database.
  return [...inOrder.reverse(), ...others].sort((a, b) => a.atNs - b.atNs);
}

/** The index of the first write after `ns`. */
function firstAfter(writes: readonly Write[], ns: number): number {
  let [low, high] = [0, writes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((writes[middle]?.atNs ?? 0) > ns) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The window, cut at these times. */
function intervalsOf({ fromNs, toNs }: Window, cutsNs: readonly number[]): [number, number][] {
  const inside = cutsNs.filter((ns) => ns > fromNs && ns < toNs);
  const times = [...new Set([fromNs, ...inside, toNs])].sort((a, b) => a - b);
  return times.slice(1).map((ns, index) => [times[index] ?? fromNs, ns]);
}

/** Joins neighbours in the same state. */
function merged(segments: readonly LaneSegment[]): LaneSegment[] {
  const joined: LaneSegment[] = [];
  for (const segment of segments) {
    const last = joined.at(-1);
    const isSame = last?.toNs === segment.fromNs && last.state === segment.state && last.text === segment.text;
    if (last && isSame) joined[joined.length - 1] = { ...last, toNs: segment.toNs };
    else joined.push(segment);
  }
  return joined;
}
