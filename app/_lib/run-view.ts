import type { Percentiles } from "@/lib/node/figures";
import type { RunDocument } from "@/lib/runs/document";
import type { RunEvent, RunSample } from "@/lib/runs/run-sample";
import { type Tone, toneOf } from "./verdict";

/** State of the run that the page follows, from the click through the event stream to the final document. */
export interface RunView {
  readonly phase: "idle" | "opening" | "running" | "finished";
  /** Null while this page opens a run itself. */
  readonly document: RunDocument | null;
  /** Ordered by `seq`, without duplicates: a reconnected stream replays earlier events. */
  readonly samples: readonly RunSample[];
  readonly stream: "closed" | "open" | "lost" | "given-up";
}

export const IDLE_VIEW: RunView = { phase: "idle", document: null, samples: [], stream: "closed" };

export type RunAction =
  | { readonly type: "open" }
  /** The run that is being opened elsewhere; null if there is none. */
  | { readonly type: "preparing"; readonly document: RunDocument | null }
  | { readonly type: "attach"; readonly document: RunDocument; readonly samples?: readonly RunSample[] }
  | { readonly type: "event"; readonly event: RunEvent }
  | { readonly type: "stream"; readonly stream: RunView["stream"] }
  | { readonly type: "reset" };

export function reduceRun(view: RunView, action: RunAction): RunView {
  switch (action.type) {
    case "open":
      return { ...IDLE_VIEW, phase: "opening" };
    case "preparing":
      return reducePreparing(view, action.document);
    case "attach":
      // Also for an ended run: its stream replays the samples and ends with `finished`.
      return { ...IDLE_VIEW, phase: "running", document: action.document, samples: action.samples ?? [] };
    case "event":
      return reduceEvent(view, action.event);
    case "stream":
      return view.phase === "running" ? { ...view, stream: action.stream } : view;
    case "reset":
      return view.phase === "finished" || opensItself(view) ? IDLE_VIEW : view;
  }
}

/** The page opens a run and waits for the lab's answer. */
export function opensItself({ phase, document }: RunView): boolean {
  return phase === "opening" && document === null;
}

function reducePreparing(view: RunView, document: RunDocument | null): RunView {
  if (view.phase === "running" || opensItself(view)) return view;
  if (document !== null) return { ...IDLE_VIEW, phase: "opening", document };
  // The run could not be opened.
  return view.phase === "opening" ? IDLE_VIEW : view;
}

function reduceEvent(view: RunView, event: RunEvent): RunView {
  if (event.event === "sample") {
    const samples = withSample(view.samples, event.data);
    return samples === view.samples ? view : { ...view, samples };
  }
  // A late event of an earlier run's stream must not replace the current run.
  if (view.document !== null && view.document.id !== event.data.id) return view;
  if (event.event === "finished") return { ...view, phase: "finished", document: event.data, stream: "closed" };
  // The stream of an ended run sends its document first, then the samples, then `finished`.
  return { ...view, phase: "running", document: event.data };
}

/** True while a run is active, opened by this page or elsewhere. The API rejects another run meanwhile. */
export function isBusy(view: RunView): boolean {
  return view.phase === "opening" || (view.phase === "running" && view.document?.status === "running");
}

/** Inserts the sample in `seq` order; ignores a duplicate. */
export function withSample(samples: readonly RunSample[], sample: RunSample): readonly RunSample[] {
  const last = samples.at(-1);
  if (last === undefined || sample.seq > last.seq) return [...samples, sample];
  if (samples.some((one) => one.seq === sample.seq)) return samples;
  return [...samples, sample].sort((a, b) => a.seq - b.seq);
}

/** The main figures: from the last sample while the run is active, from the document afterwards. */
export interface Figures {
  readonly tone: Tone;
  readonly initial: number;
  readonly orders: number;
  readonly oversold: number;
  readonly sold: number;
  /** All purchases that `sold` is a part of: those expected while the run is active, those received afterwards; null if not known. */
  readonly purchases: number | null;
  readonly lostUpdates: number;
  readonly soldPerSecond: number | null;
  readonly latencyMs: Percentiles;
  /** "client": measured by the load generator, as the buyers saw it; "server": measured inside the nodes. */
  readonly latencySource: RunDocument["latencySource"];
  readonly peakInFlight: number | null;
  readonly certified: boolean;
  readonly elapsedMs: number | null;
}

export function figuresOf(document: RunDocument, samples: readonly RunSample[]): Figures {
  const last = samples.at(-1);
  if (document.status !== "running" || last === undefined) return finalFigures(document);
  const { initial } = document.stock;
  return {
    tone: "running",
    initial,
    orders: last.orders,
    oversold: last.oversold,
    sold: last.counts.sold,
    purchases: expectedPurchases(document, last),
    lostUpdates: Math.max(0, last.orders - (initial - last.stockLeft)),
    soldPerSecond: last.soldPerSecond,
    latencyMs: last.latencyMs,
    latencySource: "server",
    peakInFlight: samples.reduce((peak, sample) => Math.max(peak, sample.inFlight), 0),
    certified: false,
    elapsedMs: last.atMs,
  };
}

/** Buyers that buy in a loop, or that arrive at a rate, send a number of purchases that is known only at the end. */
function expectedPurchases({ config }: RunDocument, { counts }: RunSample): number | null {
  return config.vus === null || counts.requests > config.vus ? null : config.vus;
}

function finalFigures(document: RunDocument): Figures {
  return {
    tone: toneOf(document),
    initial: document.stock.initial,
    orders: document.stock.orders,
    oversold: document.violations.oversold,
    sold: document.counts.sold,
    purchases: document.counts.requests,
    lostUpdates: document.violations.lostUpdates,
    soldPerSecond: document.throughput.soldPerSecond,
    latencyMs: document.latencyMs,
    latencySource: document.latencySource,
    peakInFlight: document.contention.peakInFlight,
    certified: document.contention.certified,
    elapsedMs: document.durationMs,
  };
}

export interface NodeRow {
  readonly node: string;
  readonly requests: number;
  readonly sold: number;
  /** Current value while the run is active, peak afterwards. */
  readonly inFlight: number;
  readonly waiters: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** One row per node, padded to the configured number of nodes so that the table has its final height from the start. */
export function nodeRowsOf(document: RunDocument, samples: readonly RunSample[]): NodeRow[] {
  if (document.status !== "running" && document.nodes.length > 0) {
    return document.nodes.map((node) => ({
      node: node.node,
      requests: node.counts.requests,
      sold: node.counts.sold,
      inFlight: node.peakInFlight,
      waiters: node.peakWaiters,
      p50Ms: node.latencyMs.p50,
      p99Ms: node.latencyMs.p99,
    }));
  }
  const live = samples.at(-1)?.nodes ?? [];
  const missing = Math.max(0, document.config.nodes - live.length);
  const blanks = Array.from({ length: missing }, (_, index) => blankRow(`node-${live.length + index + 1}`));
  return [...live, ...blanks];
}

function blankRow(node: string): NodeRow {
  return { node, requests: 0, sold: 0, inFlight: 0, waiters: 0, p50Ms: null, p99Ms: null };
}
