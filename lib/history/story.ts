import { durationText, plural } from "../services/number-text";
import { lateWritesIn } from "./checkers/lost-updates";
import { staleWritesIn } from "./checkers/stale-writes";
import { actorNames } from "./describe";
import { type ClockedFault, clockedFaults, isHolderStruckBy, nextHolderOf } from "./fault-steps";
import type { Finding } from "./finding";
import type { History } from "./history";
import { commitRemarks, interleavingOf } from "./interleaving";
import { lastSeenNs, servedNs } from "./intervals";
import { type Interleaving, mergeSteps } from "./merge-steps";
import type { Operation, TimeField } from "./operation";
import { type Recovery, recoveryOf } from "./recovery";
import { refusedWritesIn } from "./refused-writes";
import { CRITICAL_SECTION_FIELDS } from "./steps";
import { lanesOf, type StoryLane } from "./story-lanes";

/** What a fault did in a run: one sentence, the steps of the purchases that show it, and their lanes over time. */
export interface Story {
  readonly faultId: string;
  readonly sentence: string;
  readonly interleaving: Interleaving;
  readonly lanes: readonly StoryLane[];
}

/** The purchases of a story, the steps to mark, and the sentence after the one that names the fault. */
interface Plot {
  readonly ops: readonly Operation[];
  readonly marked: ReadonlyMap<string, readonly TimeField[]>;
  readonly sentence: string;
}

const NO_MARKS: Plot["marked"] = new Map();
const WAIT_FIELDS: readonly TimeField[] = ["waitNs", "answeredNs"];
const STALE_WRITE: readonly TimeField[] = ["leaseUntilNs", "writeNs", "committedNs"];
const RELEASE: readonly TimeField[] = ["releasedNs"];
const GRANT: readonly TimeField[] = ["grantedNs"];

/**
 * The story of the first fault that stopped or delayed a holder, else of the first fault. Null without a fault, or if operations ran on
 * several hosts, whose clocks do not say what happened first. O(n log n).
 *
 * @param violations the findings that explain the run best come first
 */
export function storyOf(history: History, violations: readonly Finding[]): Story | null {
  const faults = clockedFaults(history);
  for (const clocked of faults) {
    const holder = history.ops.find((op) => isHolderStruckBy(clocked, op));
    if (holder) return told(history, clocked, struckHolderPlot(history, clocked, holder));
  }
  const [first] = faults;
  if (!first) return null;
  const after = violations.find(
    ({ atNs, opIds }) => atNs !== null && opIds.length > 0 && BigInt(atNs) >= first.fault.fromNs,
  );
  if (!after) return told(history, first, undisturbedPlot(history, first, violations.length));
  const interleaving = interleavingOf(history, after);
  const sentence = `${faultText(first)}. ${after.sentence}`;
  return { faultId: first.fault.faultId, sentence, interleaving, lanes: lanesOf(history, interleaving) };
}

function told(history: History, { fault }: ClockedFault, { ops, marked, sentence }: Plot): Story {
  const isServed = ops.every((op) => servedNs(op) !== undefined || op.writeNs !== undefined);
  const fields = isServed ? CRITICAL_SECTION_FIELDS : [...CRITICAL_SECTION_FIELDS, ...WAIT_FIELDS];
  const merged = mergeSteps(history, ops, { fields, marked });
  const placeOf = (opId: string) => ops.findIndex((op) => op.opId === opId);
  // The purchase that the fault concerned comes first.
  const actors = [...merged.actors].sort((a, b) => placeOf(a.opId) - placeOf(b.opId));
  const interleaving = { ...merged, actors, remarks: commitRemarks(ops) };
  return { faultId: fault.faultId, sentence, interleaving, lanes: lanesOf(history, interleaving) };
}

/** "node-1 was paused for 2.5 s", "node-1 worked 2.5 s longer", "latency lasted 2 s" */
function faultText({ fault, fromNs, toNs }: ClockedFault): string {
  const length = durationText((toNs - fromNs) / 1e6);
  if (fault.killedNode !== undefined) return `${fault.killedNode} was killed and ran again after ${length}`;
  if (fault.slowedNode !== undefined) return `${fault.slowedNode} worked ${length} longer`;
  return fault.stoppedNode === undefined
    ? `${fault.faultId} lasted ${length}`
    : `${fault.stoppedNode} was paused for ${length}`;
}

/** The holder that the fault stopped or delayed, and the next holder or, if there is none, a purchase that was not served. */
function struckHolderPlot(history: History, clocked: ClockedFault, holder: Operation): Plot {
  const next = nextHolderOf(history, holder, Infinity);
  const wrong = wrongReleaseOf(history, holder);
  const ops = [holder, next ?? longestWaiter(history, clocked) ?? [], wrong?.owner ?? [], wrong?.third ?? []].flat();
  const isStale = staleWritesIn(history).some(({ op }) => op === holder);
  const marked = new Map<string, readonly TimeField[]>();
  if (isStale || wrong) marked.set(holder.opId, [...(isStale ? STALE_WRITE : []), ...(wrong ? RELEASE : [])]);
  if (wrong) marked.set(wrong.third.opId, GRANT);
  const sentence =
    clocked.fault.killedNode === undefined
      ? lateSentence(history, clocked, { holder, next })
      : killedSentence(history, clocked, { holder, next });
  return { ops: [...new Set(ops)], marked, sentence: wrong ? `${sentence} ${wrongReleaseText(wrong)}` : sentence };
}

/** A release that deleted the lock of another holder, and the purchase that acquired the lock beside that holder. */
interface WrongRelease {
  readonly owner: Operation;
  readonly third: Operation;
}

function wrongReleaseOf(history: History, holder: Operation): WrongRelease | null {
  const { releasedNs, leaseUntilNs = Infinity } = holder;
  if (releasedNs === undefined || leaseUntilNs > releasedNs) return null;
  const isHeldAt = ({ host, grantedNs = Infinity, releasedNs: endNs = Infinity }: Operation) =>
    host === holder.host && grantedNs < releasedNs && endNs > releasedNs;
  for (const owner of history.ops.filter((op) => op !== holder && isHeldAt(op))) {
    // A later grant within the owner's lease means that its lock was gone.
    const heldUntilNs = Math.min(owner.releasedNs ?? Infinity, owner.leaseUntilNs ?? Infinity);
    const third = nextHolderOf(history, owner, heldUntilNs);
    if (third && third !== holder && (third.grantedNs ?? 0) > releasedNs) return { owner, third };
  }
  return null;
}

function wrongReleaseText({ owner, third }: WrongRelease): string {
  const [name, other] = actorNames(owner, third);
  return `Its release deleted the lock of ${name}, so ${other} acquired it too.`;
}

interface Holders {
  readonly holder: Operation;
  readonly next: Operation | null;
}

function lateSentence(history: History, clocked: ClockedFault, { holder, next }: Holders): string {
  const lead = `${faultText(clocked)} while it held the lock`;
  if (!next) return `${lead}. ${unservedText(recoveryOf(history, clocked.fault))}`;
  const [late, other] = actorNames(holder, next);
  const goesOn = clocked.fault.slowedNode === undefined ? `${late} woke up` : `the work of ${late} ended`;
  const grantedNs = next.grantedNs ?? Infinity;
  if (grantedNs >= clocked.toNs) {
    return `${lead}, and the lock stayed taken: ${other} acquired it ${durationText((grantedNs - clocked.toNs) / 1e6)} after ${goesOn}.`;
  }
  const hasExpired = Math.min(holder.leaseUntilNs ?? Infinity, holder.leaseLostNs ?? Infinity) <= clocked.toNs;
  const lease = hasExpired ? "Its lease expired, " : "Meanwhile ";
  return `${lead}. ${lease}${other} acquired the lock, and when ${goesOn}, ${fateText(history, holder)}.`;
}

/** The result of the write of a holder that had lost its lock. */
function fateText(history: History, holder: Operation): string {
  const lost = lateWritesIn(history).find(({ late }) => late === holder)?.undone.length ?? 0;
  const effect = lost === 0 ? "" : `, which caused ${plural(lost, "lost update")}`;
  if (staleWritesIn(history).some(({ op }) => op === holder)) return `the resource accepted its stale write${effect}`;
  const refused = refusedWritesIn(history).find(({ op }) => op === holder);
  if (refused) {
    return `the resource refused its stale write (token ${holder.fencingToken} < ${refused.newer.fencingToken})`;
  }
  if (holder.writeAccepted === true) return `the resource accepted its write${effect}`;
  return holder.writeNs === undefined ? "it wrote nothing" : "the resource refused its write";
}

function killedSentence(history: History, clocked: ClockedFault, { holder, next }: Holders): string {
  const lead = `${clocked.fault.killedNode} was killed while it held the lock`;
  if (!next) return `${lead}. ${unservedText(recoveryOf(history, clocked.fault))}`;
  const after = (ns: number) => durationText(((next.grantedNs ?? 0) - ns) / 1e6);
  const { leaseUntilNs = Infinity } = holder;
  if (leaseUntilNs > (next.grantedNs ?? 0))
    return `${lead}, and ${next.node} acquired the lock ${after(clocked.fromNs)} later.`;
  const leftMs = (leaseUntilNs - clocked.fromNs) / 1e6;
  return `${lead}. Its lease expired ${durationText(leftMs)} later, and ${next.node} acquired the lock ${after(leaseUntilNs)} after that.`;
}

function unservedText(recovery: Recovery | null): string {
  if (!recovery || recovery.unserved === 0) return "No other purchase waited for the lock.";
  const { unserved, watchedMs } = recovery;
  const waited = `${plural(unserved, "purchase")} waited and ${unserved === 1 ? "was" : "were"} not served`;
  return `No purchase acquired the lock in the following ${durationText(watchedMs)}: ${waited}.`;
}

/** A fault that broke nothing: the purchase in the critical section when it began, and the next one. */
function undisturbedPlot(history: History, clocked: ClockedFault, violations: number): Plot {
  const holder = lastEntered(history, clocked.fromNs);
  const next = firstEntered(history, Math.max(clocked.fromNs, holder === null ? -1 : (enteredNs(holder) ?? -1)));
  const waiter = next === null ? longestWaiter(history, clocked) : null;
  return {
    ops: [holder, next, waiter].flatMap((op) => op ?? []),
    marked: NO_MARKS,
    sentence: `${faultText(clocked)}. ${progressText(history, clocked)} ${violations === 0 ? "No check failed." : "The findings name the checks that failed."}`,
  };
}

function progressText(history: History, { fault, fromNs, toNs }: ClockedFault): string {
  const recovery = recoveryOf(history, fault);
  if (recovery?.nextGrantMs === null && recovery.unserved > 0) return unservedText(recovery);
  const during = [...history.soldOps].filter(({ committedNs = -1 }) => committedNs >= fromNs && committedNs <= toNs);
  return `Meanwhile the lab sold to ${plural(during.length, "buyer")}.`;
}

/** When a purchase entered the critical section; undefined if it did not. */
function enteredNs(op: Operation): number | undefined {
  return servedNs(op) ?? op.writeNs;
}

function lastEntered({ ops }: History, untilNs: number): Operation | null {
  let last: Operation | null = null;
  for (const op of ops) {
    const at = enteredNs(op) ?? Infinity;
    if (at <= untilNs && at >= (last === null ? -Infinity : (enteredNs(last) ?? -Infinity))) last = op;
  }
  return last;
}

function firstEntered({ ops }: History, afterNs: number): Operation | null {
  let first: Operation | null = null;
  for (const op of ops) {
    const at = enteredNs(op) ?? -Infinity;
    if (at > afterNs && at < (first === null ? Infinity : (enteredNs(first) ?? Infinity))) first = op;
  }
  return first;
}

/** The purchase that waited longest after the fault began and was not served. */
function longestWaiter({ ops }: History, { fromNs }: ClockedFault): Operation | null {
  let longest: Operation | null = null;
  const waitedNs = (op: Operation) => lastSeenNs(op) - (op.waitNs ?? lastSeenNs(op));
  for (const op of ops) {
    if (op.waitNs === undefined || servedNs(op) !== undefined || lastSeenNs(op) <= fromNs) continue;
    if (op.outcome !== "unknown" && waitedNs(op) > (longest === null ? -1 : waitedNs(longest))) longest = op;
  }
  return longest;
}
