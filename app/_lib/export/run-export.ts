import type { HistoryOpLine } from "@/lib/history/types";
import type { RunDocument } from "@/lib/runs/document";
import { type Evidence, type ExplainedFinding, evidenceOf } from "@/lib/runs/evidence";
import { historyLines } from "@/lib/runs/history-export";
import { readSamples } from "@/lib/runs/queries";
import type { RunSample } from "@/lib/runs/run-sample";
import { alarmedSpans } from "../finding-text";
import { seriesOfHistory } from "../history-series";
import { latencyCurves } from "../latency-curves";
import { openingFinding } from "../opening-finding";
import { seriesOfSamples } from "../samples-series";
import { rangeAround } from "../timeline-view";
import { distinctFindings } from "./distinct-findings";
import { operationsCsv, percentilesCsv, samplesCsv } from "./run-csv";
import { type Distribution, FILE_WORDS, hgrm } from "./run-hgrm";
import { runHtml } from "./run-html";
import type { HolderView } from "./svg-timeline";

/** Exports a run as a file. */

export interface ExportedFile {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}

export interface ExportOrder {
  readonly format: "json" | "csv" | "hgrm" | "html";
  /** For CSV: what a row is. */
  readonly rows: "samples" | "operations" | "percentiles";
  /** For .hgrm: which distribution. */
  readonly of: Distribution;
}

/** @returns null for a distribution that the run does not have */
export async function exportRun(
  document: RunDocument,
  { format, rows, of }: ExportOrder,
): Promise<ExportedFile | null> {
  const name = `run-${document.id}`;
  switch (format) {
    case "json":
      return { name: `${name}.json`, contentType: "application/json", body: `${JSON.stringify(document, null, 2)}\n` };
    case "csv":
      return {
        name: `${name}-${rows}.csv`,
        contentType: "text/csv; charset=utf-8",
        body: await csvOf(document, rows),
      };
    case "hgrm": {
      const body = hgrm(document, of);
      return body === null
        ? null
        : { name: `${name}-${FILE_WORDS[of]}.hgrm`, contentType: "text/plain; charset=utf-8", body };
    }
    case "html":
      return {
        name: `${name}.html`,
        contentType: "text/html; charset=utf-8",
        body: await exportedHtml(document, await readSamples(document.id)),
      };
  }
}

async function csvOf(document: RunDocument, rows: ExportOrder["rows"]): Promise<string> {
  if (rows === "samples") return samplesCsv(await readSamples(document.id));
  if (rows === "operations") return operationsCsv(await readOperations(document));
  return percentilesCsv(latencyCurves(document));
}

/** The run as one HTML file. The samples replace the series of a run without a recorded one. */
export async function exportedHtml(document: RunDocument, samples: readonly RunSample[]): Promise<string> {
  const evidence = await evidenceOf(document);
  const { findings, faults, series } = evidence;
  const opensOn = openingFinding(findings);
  const first = opensOn === null ? null : evidence.explain(opensOn.name);
  return runHtml({
    document,
    series:
      series === null ? seriesOfSamples(document, samples) : seriesOfHistory(series, faults, document.stock.orders),
    evidence,
    curves: latencyCurves(document),
    ...distinctFindings(findings.map(({ sentence }) => sentence)),
    first: first?.interleaving ?? null,
    story: evidence.story,
    holders: holdersOf(evidence, first),
  });
}

/** The time range with which the page opens. */
function holdersOf({ timeline, faults, story, ordinary }: Evidence, first: ExplainedFinding | null): HolderView | null {
  const { spans, endUs } = timeline;
  if (spans.fromUs.length === 0) return null;
  const selected = (first ?? story ?? ordinary).spans;
  const range = rangeAround(spans, selected, endUs) ?? { fromUs: 0, toUs: Math.max(1, endUs) };
  return { timeline, faults, range, selected, alarmed: first === null ? [] : alarmedSpans(first) };
}

async function readOperations(document: RunDocument): Promise<HistoryOpLine[]> {
  const operations: HistoryOpLine[] = [];
  for await (const chunk of historyLines(document)) {
    for (const text of chunk.split("\n")) {
      if (!text.startsWith('{"type":"op"')) continue;
      operations.push(JSON.parse(text) as HistoryOpLine);
    }
  }
  return operations;
}
