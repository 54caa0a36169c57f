import type { ServerId } from "../../servers/all-servers";
import type { History } from "../history/history";
import type { StrategyTraits } from "../locks/types";
import type { ArmedStop, StopOutcome } from "../node/node-stops";
import type { StockTarget } from "../stock/types";
import type { MatrixSale } from "./matrix-sale";
import type { ServerProxy } from "./run-proxies";
import type { TopologyId } from "./topologies/ids";
import type { TopologyLease } from "./topologies/topology-lease";

/** The settings of a run that decide whether a fault applies to it and what the fault does. */
export interface FaultContext {
  readonly traits: StrategyTraits;
  readonly ttlMs: number;
  /** Store nodes that serve the run. */
  readonly nodes: number;
  /** True if fencing tokens are checked. */
  readonly fencing: boolean;
}

/** A fault that took effect. Times are readings of the host's monotonic clock. */
export interface FaultEvent {
  readonly fromNs: bigint;
  readonly toNs: bigint;
  /** A sentence with the evidence that the fault took effect. */
  readonly proof: string;
  /** The store node whose process it stopped. Absent: none. */
  readonly stoppedNode?: string;
  /** The store node whose process it killed. Absent: none. */
  readonly killedNode?: string;
  /** True if it promoted a replica of the database. Orders that the replica did not have are gone. */
  readonly promotedReplica?: true;
  /** The store node on which it delayed the work of one holder. Absent: none. */
  readonly slowedNode?: string;
}

/** The store node that a fault acts on. */
export interface FaultNode {
  readonly name: string;
  /** @returns the index of this stop in the outcomes */
  armStop(stop: ArmedStop): Promise<number>;
  /** Waits for a node that is paused. @throws Error if the node's process is not running */
  stops(): Promise<StopReport>;
  /** The same, and cancels stops that have not happened. */
  disarmStops(): Promise<StopReport>;
}

export interface StopReport {
  /** Process instance of the node that answered. */
  readonly instance: string;
  readonly outcomes: readonly StopOutcome[];
}

/**
 * The verdict to expect of a strategy under a fault, if it is safe without it: unsafe, blocked (no more sales, so no
 * violation either), or safe.
 */
export type ExpectedEffect = "unsafe" | "blocked" | "safe";

export interface Expectation {
  readonly effect: ExpectedEffect;
  /** Why, as a sentence for people. */
  readonly reason: string;
}

/** A fault in one run. */
export interface Injection {
  readonly target: StockTarget;
  readonly traits: StrategyTraits;
  readonly ttlMs: number;
  /** The store nodes that serve the run. */
  readonly nodeNames: readonly string[];
  readonly atMs: number;
  readonly durationMs: number;
  readonly node: FaultNode;
  /** Proxies to the servers of `proxiedServers`, of the requested node or of all nodes. */
  readonly proxies: readonly ServerProxy[];
  /** The topology that the run uses; null if no fault of the run needs one. */
  readonly topology: TopologyLease | null;
  /** Resolves `atMs` after the run's first purchase. @throws FaultMissed if the load ends before that */
  untilDue(): Promise<void>;
  /** Aborts when the load is over: the fault must not begin after that. */
  readonly closing: AbortSignal;
}

/** A fault that the lab can inject into a run. It ends by itself, even if the lab dies. */
export interface Fault {
  readonly id: string;
  /** One sentence, for people. */
  readonly does: string;
  /** True if the fault pauses or kills its node, which then answers nothing. */
  readonly stopsNode?: true;
  /** The evidence that it took effect, as a noun phrase. */
  readonly proof: string;
  /** The servers that it acts on through proxies between them and the nodes. Absent: the run needs no proxies for it. */
  proxiedServers?(run: FaultContext): readonly ServerId[];
  /** The topology that it acts on, which the run starts and uses. Absent: it acts on the lab's servers. */
  readonly topology?: TopologyId;
  /** True if the run sells on the PostgreSQL of the topology, which the lab fills with its tables and the row to sell. */
  readonly replacesDatabase?: true;
  /** What an unsafe strategy does under it. Absent: it lets two holders in. */
  readonly harm?: string;
  /** Milliseconds if the request names no duration; null for an instant fault, which takes no duration. */
  defaultDurationMs(run: FaultContext): number | null;
  /** Why it does not apply to such a run; null if it does. */
  whyNotApplicable(run: FaultContext): string | null;
  /** Why this lab cannot inject it into any run; absent or null if it can. */
  whyUnavailable?(): string | null;
  /** What the strategy's traits predict. */
  expectationOf(run: FaultContext, durationMs: number): Expectation;
  /** Why no short run can show its effect on a strategy that it applies to; null if one can. Absent: one always can. */
  whyNotInMatrix?(traits: StrategyTraits): string | null;
  /** A sale that shows the fault's effect on the strategy within seconds. */
  matrixSale(traits: StrategyTraits): MatrixSale;
  /** @throws FaultMissed if it did not take effect, or there is no proof that it did */
  inject(injection: Injection): Promise<FaultEvent>;
  /** Why the run's history does not show that the fault could have an effect; null if it does. Absent: the event proves it. */
  whyUnproven?(
    history: History,
    event: Pick<FaultEvent, "fromNs" | "toNs">,
    run: Pick<FaultContext, "traits" | "ttlMs">,
  ): string | null;
}

/** A fault that did not take effect. The message gives the reason, without the fault's name. */
export class FaultMissed extends Error {
  override readonly name = "FaultMissed";
}
