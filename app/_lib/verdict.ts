import type { RunDocument } from "@/lib/runs/document";
import { formatCount, formatSeconds, plural } from "./format";

/** How a run is set on the page: which colour, which word. */
export type Tone = "idle" | "opening" | "running" | "safe" | "unsafe" | "inconclusive" | "failed";

export const TONE_TEXT: Record<Tone, string> = {
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

export interface VerdictText {
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
export function verdictText(document: RunDocument): VerdictText {
  const word = TONE_TEXT[toneOf(document)];
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
  return { lead: `${lead}${firstSeenText(document)}`, rest };
}

/** A moment and not a length: always in seconds, as the charts below have it. */
function firstSeenText({ firstViolationMs }: RunDocument): string {
  return firstViolationMs === undefined ? "" : ` First seen ${formatSeconds(firstViolationMs)} into the sale.`;
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
