import type { Percentiles } from "@/lib/node/figures";
import type { RunDocument, RunEvent, RunSample } from "@/lib/runs/document";
import { type Tone, toneOf } from "./verdict";

/** One run as the page follows it: from the click, through the event stream, to the final document. */
export interface RunView {
  readonly phase: "idle" | "opening" | "running" | "finished";
  readonly document: RunDocument | null;
  /** In order of `seq`, none twice: a reconnected stream sends the past again. */
  readonly samples: readonly RunSample[];
  readonly stream: "closed" | "open" | "lost" | "given-up";
  /** Opened from this page; it does not open another one meanwhile. */
  readonly isOwn: boolean;
}

export const IDLE_VIEW: RunView = { phase: "idle", document: null, samples: [], stream: "closed", isOwn: false };

export type RunAction =
  | { readonly type: "open" }
  | { readonly type: "attach"; readonly document: RunDocument; readonly isOwn: boolean }
  | { readonly type: "event"; readonly event: RunEvent }
  | { readonly type: "stream"; readonly stream: RunView["stream"] }
  | { readonly type: "reset" };

export function reduceRun(view: RunView, action: RunAction): RunView {
  switch (action.type) {
    case "open":
      return { ...IDLE_VIEW, phase: "opening" };
    case "attach":
      // Over or not, its stream has the samples and ends with `finished`.
      return { ...IDLE_VIEW, phase: "running", document: action.document, isOwn: action.isOwn };
    case "event":
      return reduceEvent(view, action.event);
    case "stream":
      return view.phase === "running" ? { ...view, stream: action.stream } : view;
    case "reset":
      return view.phase === "finished" || view.phase === "opening" ? IDLE_VIEW : view;
  }
}

function reduceEvent(view: RunView, event: RunEvent): RunView {
  if (event.event === "sample") {
    const samples = withSample(view.samples, event.data);
    return samples === view.samples ? view : { ...view, samples };
  }
  // A late event of an earlier run's stream must not replace the run on the page.
  if (view.document !== null && view.document.id !== event.data.id) return view;
  if (event.event === "finished") return { ...view, phase: "finished", document: event.data, stream: "closed" };
  // Whoever joins an ended run late gets its document first and its samples after it: the stream goes on to `finished`.
  return { ...view, phase: "running", document: event.data };
}

/** Whether this page waits for a run of its own; whether another one is in the way, the lab knows better. */
export function isBusy(view: RunView): boolean {
  return view.phase === "opening" || (view.phase === "running" && view.isOwn);
}

/** Puts the sample where its `seq` belongs; one that is there already changes nothing. */
export function withSample(samples: readonly RunSample[], sample: RunSample): readonly RunSample[] {
  const last = samples.at(-1);
  if (last === undefined || sample.seq > last.seq) return [...samples, sample];
  if (samples.some((one) => one.seq === sample.seq)) return samples;
  return [...samples, sample].sort((a, b) => a.seq - b.seq);
}

/** The figures of the page, from the last sample while running and from the document afterwards. */
export interface Figures {
  readonly tone: Tone;
  readonly initial: number;
  readonly orders: number;
  readonly oversold: number;
  readonly sold: number;
  readonly buyers: number | null;
  readonly lostUpdates: number;
  readonly soldPerSecond: number | null;
  readonly latencyMs: Percentiles;
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
    buyers: document.config.vus,
    lostUpdates: Math.max(0, last.orders - (initial - last.stockLeft)),
    soldPerSecond: last.soldPerSecond,
    latencyMs: last.latencyMs,
    peakInFlight: samples.reduce((peak, sample) => Math.max(peak, sample.inFlight), 0),
    certified: false,
    elapsedMs: last.atMs,
  };
}

function finalFigures(document: RunDocument): Figures {
  return {
    tone: toneOf(document),
    initial: document.stock.initial,
    orders: document.stock.orders,
    oversold: document.violations.oversold,
    sold: document.counts.sold,
    buyers: document.config.vus,
    lostUpdates: document.violations.lostUpdates,
    soldPerSecond: document.throughput.soldPerSecond,
    latencyMs: document.latencyMs,
    peakInFlight: document.contention.peakInFlight,
    certified: document.contention.certified,
    elapsedMs: document.durationMs,
  };
}

export interface NodeRow {
  readonly node: string;
  readonly requests: number;
  readonly sold: number;
  /** Now while running, the peak afterwards. */
  readonly inFlight: number;
  readonly waiters: number;
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** One row a node, the document's node count padded so that the table has its height from the start. */
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
