import type { HistoryOpLine } from "@/lib/history/types";
import type { RunDocument } from "@/lib/runs/document";
import { evidenceOf } from "@/lib/runs/evidence";
import { curveOfHistogram, medianCurve, mergedLatency } from "@/lib/runs/histogram-curve";
import { historyLines } from "@/lib/runs/history-export";
import { readSamples } from "@/lib/runs/queries";
import { distinct } from "./distinct";
import { operationsCsv, samplesCsv } from "./run-csv";
import { type HISTOGRAM_NAMES, hgrm } from "./run-hgrm";
import { runHtml } from "./run-html";

/** A run as a file. */

export interface ExportedFile {
  readonly name: string;
  readonly contentType: string;
  readonly body: string;
}

export interface ExportOrder {
  readonly format: "json" | "csv" | "hgrm" | "html";
  /** Of CSV: what a line is. */
  readonly rows: "samples" | "operations";
  /** Of .hgrm: which distribution. */
  readonly of: (typeof HISTOGRAM_NAMES)[number];
}

/** @returns null for distributions of a run that was made before they were kept */
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
        body:
          rows === "samples"
            ? samplesCsv(await readSamples(document.id))
            : operationsCsv(await readOperations(document)),
      };
    case "hgrm":
      if (document.histograms === undefined) return null;
      return {
        name: `${name}-${of}.hgrm`,
        contentType: "text/plain; charset=utf-8",
        body: hgrm(document.histograms, of),
      };
    case "html":
      return { name: `${name}.html`, contentType: "text/html; charset=utf-8", body: await htmlOf(document) };
  }
}

async function htmlOf(document: RunDocument): Promise<string> {
  const [samples, { findings, explain }] = await Promise.all([readSamples(document.id), evidenceOf(document)]);
  const whole = mergedLatency([document]);
  return runHtml({
    document,
    samples,
    curve: whole === null ? medianCurve([document]) : curveOfHistogram(whole),
    curveOf: whole === null ? "buyers" : "nodes",
    ...distinct(findings.map(({ sentence }) => sentence)),
    first: findings[0] === undefined ? null : (explain(findings[0].name)?.interleaving ?? null),
  });
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
