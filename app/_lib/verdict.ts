import type { RunDocument, RunViolations } from "@/lib/runs/document";
import { formatCount, formatSeconds, plural } from "./format";

/** How a run is set on the page: which colour, which word. */
export type Tone = "idle" | "opening" | "running" | "safe" | "unsafe" | "inconclusive" | "failed";

export const TONE_WORDS: Record<Tone, string> = {
  idle: "Nothing run yet",
  opening: "Opening",
  running: "Running",
  safe: "Safe",
  unsafe: "Unsafe",
  inconclusive: "Inconclusive",
  failed: "Failed",
};

export function toneOf(document: Pick<RunDocument, "status" | "verdict">): Tone {
  if (document.status === "running") return "running";
  return document.status === "failed" ? "failed" : document.verdict;
}

export interface VerdictWords {
  /** The sentence set large, without the verdict's own word. */
  readonly lead: string;
  readonly rest: readonly string[];
}

/** Own words for documents that carry no sentences. */
function fallbackSentence(document: RunDocument): string {
  const { orders, initial } = document.stock;
  const sold = `${plural(orders, "order")} for ${plural(initial, "unit")}`;
  switch (toneOf(document)) {
    case "safe":
      return `${sold}; every check of the recorded history passed.`;
    case "unsafe":
      return `${sold}.`;
    case "failed":
      return "The run did not come to an end.";
    default:
      return `${sold}; the evidence does not settle it.`;
  }
}

/** The document's sentences, most important first; the verdict's word is set by the page and not said twice. */
export function verdictWords(document: RunDocument): VerdictWords {
  const word = TONE_WORDS[toneOf(document)];
  const sentences = document.sentences
    .map((sentence) =>
      sentence
        .replace(new RegExp(`^${word}[.:]\\s*`, "i"), "")
        .trim()
        .replace(/(\d) - (\d)/g, "$1\u00a0\u2212\u00a0$2")
        .replace(/ = (\d+) /g, "\u00a0=\u00a0$1\u00a0"),
    )
    .filter((sentence) => sentence !== "");
  const [lead = fallbackSentence(document), ...rest] = sentences;
  return { lead: `${lead}${firstSeenWords(document)}`, rest };
}

/** A moment and not a length: always in seconds, as the charts below have it. */
function firstSeenWords({ firstViolationMs }: RunDocument): string {
  return firstViolationMs === undefined ? "" : ` First seen ${formatSeconds(firstViolationMs)} into the sale.`;
}

export interface Check {
  readonly id: keyof RunViolations;
  readonly label: string;
  /** What a number above 0 means. */
  readonly meaning: string;
  readonly count: number;
}

const CHECKS: readonly Omit<Check, "count">[] = [
  { id: "oversold", label: "Oversold", meaning: "orders beyond the stock there was" },
  { id: "lostUpdates", label: "Lost updates", meaning: "orders the stock counter does not know of" },
  { id: "undersold", label: "Undersold", meaning: "units gone from the counter without an order" },
  { id: "negativeStock", label: "Negative stock", meaning: "units below zero in the counter" },
  { id: "duplicateClaims", label: "Duplicate claims", meaning: "coupons one buyer got twice" },
  { id: "overlappingHolds", label: "Overlapping holds", meaning: "pairs of holders inside at the same time" },
  { id: "staleWrites", label: "Stale writes", meaning: "writes accepted from a holder that had lost its hold" },
];

/** Rarer, and absent from older runs: shown where something was found. */
const FURTHER_CHECKS: readonly Omit<Check, "count">[] = [
  { id: "acknowledgedRows", label: "Lost sales", meaning: "buyers told sold without exactly that one order" },
  { id: "refusedRows", label: "Sold to the refused", meaning: "buyers turned away who have an order" },
  { id: "unknownRows", label: "Sold twice unanswered", meaning: "buyers without an answer who have two orders" },
  { id: "strayRows", label: "Stray orders", meaning: "orders that belong to no purchase" },
  { id: "ticketOrder", label: "Ticket order", meaning: "times the stock was seen at a value it could not have had" },
  { id: "fencingOrder", label: "Fencing order", meaning: "fencing tokens that did not rise" },
];

export function checksOf({ violations }: Pick<RunDocument, "violations">): Check[] {
  const counted = (check: Omit<Check, "count">) => ({ ...check, count: violations[check.id] ?? 0 });
  return [...CHECKS.map(counted), ...FURTHER_CHECKS.map(counted).filter(({ count }) => count > 0)];
}

/** Why one may believe the verdict: facts of the document only. */
export function evidenceOf(document: RunDocument): string[] {
  const { contention, counts, stock } = document;
  const evidence = [
    contention.certified
      ? `up to ${formatCount(contention.peakInFlight)} purchases in flight at once`
      : "never two purchases in flight at once",
    `${plural(stock.orders, "order row")} in PostgreSQL`,
    `${plural(counts.requests, "request")} answered`,
  ];
  if (contention.droppedIterations !== null && contention.droppedIterations > 0) {
    evidence.push(`${plural(contention.droppedIterations, "purchase")} the load engine failed to send`);
  }
  return evidence;
}

/** Answers other than sold and sold out, where there were any: "12 contended, 1 error". */
export function answersOf(counts: RunDocument["counts"]): string[] {
  const answers: [number, string][] = [
    [counts.sold, "sold"],
    [counts.soldOut, "sold out"],
    [counts.contended, "gave up waiting"],
    [counts.rejected, "refused by a limit"],
    [counts.errors, counts.errors === 1 ? "error" : "errors"],
    [counts.unknown, "of unknown outcome"],
  ];
  return answers
    .filter(([count], index) => index < 2 || count > 0)
    .map(([count, word]) => `${formatCount(count)} ${word}`);
}
