import { countFields } from "../history/field-count";
import type { HistoryOpLine, OperationOutcome } from "../history/types";
import type { OperationTrace } from "../stock/types";
import type { SpoolSource, SpoolWriter } from "./spool-writer";

/** The facts of a purchase that its trace does not hold and that are known at its start. */
export interface PurchaseFacts {
  readonly buyerId: string;
  readonly quantity: number;
  readonly idempotencyKey?: string | undefined;
}

/** The facts of a purchase that its trace does not hold. */
export interface OperationFacts extends PurchaseFacts {
  readonly outcome: OperationOutcome;
  readonly orderId?: string | undefined;
}

interface Entry {
  readonly trace: OperationTrace;
  readonly facts: OperationFacts;
}

/**
 * Collects the operations of one run on one node. Recording is one array push; they are formatted later.
 * Beyond `capacity`, operations are counted as dropped, which makes the run inconclusive.
 */
export class Recorder implements SpoolSource {
  private readonly entries: Entry[] = [];
  private droppedCount = 0;
  /** Keeps the operations for a restarted process. */
  spool: SpoolWriter | null = null;

  constructor(private readonly options: { readonly node: string; readonly host: string; readonly capacity: number }) {}

  record(trace: OperationTrace, facts: OperationFacts): void {
    if (this.entries.length >= this.options.capacity) this.droppedCount += 1;
    else {
      this.entries.push({ trace, facts });
      this.spool?.wake();
    }
  }

  get size(): number {
    return this.entries.length;
  }

  get dropped(): number {
    return this.droppedCount;
  }

  *lines(): Generator<HistoryOpLine> {
    for (const entry of this.entries) yield this.toLine(entry);
  }

  /** A purchase that the process will not finish. */
  unfinishedLine(trace: OperationTrace, purchase: PurchaseFacts): HistoryOpLine {
    return this.toLine({ trace, facts: { ...purchase, outcome: "unknown" } });
  }

  text(from: number, limit: number): string {
    const entries = this.entries.slice(from, from + limit);
    return entries.map((entry) => `${JSON.stringify(this.toLine(entry))}\n`).join("");
  }

  private toLine({ trace, facts }: Entry): HistoryOpLine {
    const line = {
      type: "op",
      opId: trace.opId,
      node: this.options.node,
      host: this.options.host,
      buyerId: facts.buyerId,
      quantity: facts.quantity,
      idempotencyKey: facts.idempotencyKey,
      invokedNs: trace.invokedNs.toString(),
      waitNs: trace.waitNs?.toString(),
      grantedNs: trace.grantedNs?.toString(),
      holderId: trace.holderId,
      transactional: trace.transactional,
      fencingToken: trace.fencingToken?.toString(),
      readNs: trace.readNs?.toString(),
      readValue: trace.readValue,
      writeNs: trace.writeNs?.toString(),
      writtenValue: trace.writtenValue,
      writeAccepted: trace.writeAccepted,
      committedNs: trace.committedNs?.toString(),
      releasedNs: trace.releasedNs?.toString(),
      leaseLostNs: trace.leaseLostNs?.toString(),
      leaseUntilNs: trace.leaseUntilNs?.toString(),
      answeredNs: trace.answeredNs?.toString(),
      poolWaitUs: micros(trace.poolWaitNs),
      waitPoolUs: micros(trace.waitPoolNs),
      holdPoolUs: micros(trace.holdPoolNs),
      commitPoolUs: micros(trace.commitPoolNs),
      outcome: facts.outcome,
      orderId: facts.orderId,
      fields: 0,
    };
    return countFields(line as HistoryOpLine);
  }
}

function micros(ns: bigint | undefined): number | undefined {
  return ns === undefined ? undefined : Number(ns / 1_000n);
}
