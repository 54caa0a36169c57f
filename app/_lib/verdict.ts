import type { RunDocument } from "@/lib/runs/document";
import { formatCount, plural } from "./format";

/** State of a run that selects its colour and word on the page. */
export type Tone = "idle" | "opening" | "running" | "safe" | "unsafe" | "inconclusive" | "failed";

export const TONE_TEXT: Record<Tone, string> = {
  idle: "No runs yet",
  opening: "Starting",
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
  /** The main sentence, without the verdict word. */
  readonly lead: string;
  readonly rest: readonly string[];
}

/** Sentence for a document that has none. */
function fallbackSentence(document: RunDocument): string {
  const { orders, initial } = document.stock;
  const sold = `${plural(orders, "unit")} ordered from a stock of ${formatCount(initial)}`;
  switch (toneOf(document)) {
    case "safe":
      return `${sold}. Every check of the recorded history passed.`;
    case "unsafe":
      return `${sold}.`;
    case "failed":
      return "The run did not finish.";
    default:
      return `${sold}. The evidence is not sufficient for a verdict.`;
  }
}

/** The document's sentences, most important first, without the verdict word, which the page shows itself. */
export function verdictText(document: RunDocument): VerdictText {
  const word = TONE_TEXT[toneOf(document)];
  const sentences = document.sentences
    .map((sentence) =>
      sentence
        .replace(new RegExp(`^${word}[.:]\\s*`, "i"), "")
        .trim()
        .replace(/(\d) - (\d)/g, "$1\u00a0\u2212\u00a0$2")
        .replace(/ = ([\d,]+) /g, "\u00a0=\u00a0$1\u00a0"),
    )
    .filter((sentence) => sentence !== "");
  const [lead = fallbackSentence(document), ...rest] = sentences;
  return { lead, rest };
}

/** Facts of the document that support the verdict. */
export function evidenceOf(document: RunDocument): string[] {
  const { contention, counts, stock } = document;
  const evidence = [
    `up to ${plural(contention.peakInFlight, "purchase")} in flight at once`,
    `${plural(stock.orders, "unit")} ordered, by the rows in PostgreSQL`,
    `${plural(counts.requests, "purchase")} received by the nodes`,
  ];
  if (contention.droppedIterations !== null && contention.droppedIterations > 0) {
    evidence.push(`${plural(contention.droppedIterations, "purchase")} the load generator did not send`);
  }
  return evidence;
}

/** Outcomes with their counts; sold and sold out always, the others only if above 0. */
export function answersOf(counts: RunDocument["counts"], refusedStaleWrites = 0): string[] {
  const errors = counts.errors - refusedStaleWrites;
  const answers: [number, string][] = [
    [counts.sold, "sold"],
    [counts.soldOut, "sold out"],
    [counts.contended, "timed out waiting"],
    [counts.rejected, "rejected by a limit"],
    [
      refusedStaleWrites,
      refusedStaleWrites === 1 ? "stale write refused by fencing" : "stale writes refused by fencing",
    ],
    [errors, errors === 1 ? "error" : "errors"],
    [counts.unknown, "with unknown outcome"],
  ];
  return answers
    .filter(([count], index) => index < 2 || count > 0)
    .map(([count, word]) => `${formatCount(count)} ${word}`);
}
