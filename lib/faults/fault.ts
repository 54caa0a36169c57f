import type { StrategyTraits } from "../locks/types";
import type { ArmedPause, PauseOutcome } from "../node/holder-pauses";
import type { StockTarget } from "../stock/types";

/** What a fault is about to be done to: as much of a run as decides whether it can be, and what comes of it. */
export interface FaultSubject {
  readonly traits: StrategyTraits;
  readonly ttlMs: number;
  /** Store nodes that serve the run. */
  readonly nodes: number;
  /** Whether fencing tokens are checked. */
  readonly fencing: boolean;
}

/** A fault that was seen to take effect. Times are of the host's monotonic clock. */
export interface FaultEvent {
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** A sentence that says how one knows. */
  readonly proof: string;
}

/** The one store node a fault is about. */
export interface FaultNode {
  readonly name: string;
  /** @returns its place among the outcomes */
  armPause(pause: ArmedPause): Promise<number>;
  /** Waits for a node that stands still, then calls off what has not happened. */
  disarmPauses(): Promise<readonly PauseOutcome[]>;
}

/**
 * What becomes of a strategy's promise: it breaks, it is kept because nothing is sold any more, or it holds (for what it is
 * worth without the fault).
 */
export type ExpectedEffect = "breaks" | "stops" | "holds";

/** A fault and the run it belongs to. */
export interface Injection {
  readonly target: StockTarget;
  readonly traits: StrategyTraits;
  /** The store nodes that serve the run. */
  readonly nodeNames: readonly string[];
  readonly atMs: number;
  readonly durationMs: number;
  readonly node: FaultNode;
  /** Resolves `atMs` after the run's first purchase. @throws FaultMissed when the load is over before */
  untilDue(): Promise<void>;
  /** Aborts when the load is over: what has not happened by then does not happen any more. */
  readonly closing: AbortSignal;
}

/** One way to hurt a run. It heals by itself, whatever becomes of those who asked for it. */
export interface Fault {
  readonly id: string;
  /** One sentence, for people. */
  readonly does: string;
  /** What counts as proof that it took effect. */
  readonly proof: string;
  /** How long it takes where nobody says, milliseconds; null: it is over at once, and nobody can say. */
  defaultDurationMs(subject: FaultSubject): number | null;
  /** Why it cannot be done to such a run; null when it can. */
  reasonAgainst(subject: FaultSubject): string | null;
  /** Why it cannot be done here, whatever the run; absent or null: it can. */
  reasonHere?(): string | null;
  /** What the traits lead one to expect. */
  expectedEffectOf(subject: FaultSubject, durationMs: number): ExpectedEffect;
  /** @throws FaultMissed when it did not take effect, or nobody can prove it */
  inject(injection: Injection): Promise<FaultEvent>;
}

/** A fault that did not happen; the message says why, without the fault's name. */
export class FaultMissed extends Error {
  override readonly name = "FaultMissed";
}
