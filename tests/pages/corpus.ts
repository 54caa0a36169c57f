import { readdirSync, readFileSync } from "node:fs";
import { FAULT_IDS } from "../../lib/faults/ids";
import { simulateCounterSale } from "../../lib/history/testing/simulation/counter-sale";
import { simulateLockSale } from "../../lib/history/testing/simulation/lock-sale";
import { type Sale, toNdjson } from "../../lib/history/testing/simulation/sale";
import type { HistoryFaultLine } from "../../lib/history/types";
import type { RunDocument } from "../../lib/runs/document";
import { withVerdict } from "../../lib/runs/run-verdict";
import {
  closePlanted,
  type PlantedHistory,
  type Planting,
  plantedHistory,
  plantRun,
} from "../../lib/runs/testing/planted-run";

/** Runs of every kind that a page can show, made by the code that closes real runs. */

const CASES = new URL("../history/cases/", import.meta.url);
const MS = 1_000_000;
const FAILURE = "k6 ended with code 107.";

export interface CorpusRun {
  readonly name: string;
  readonly make: () => Promise<RunDocument>;
}

/** One run for each planted violation, each doubt and each correct history of one host. */
function casesOfViolations(): CorpusRun[] {
  return (
    readdirSync(CASES)
      .filter((file) => !file.startsWith("broken-") || file.startsWith("broken-dropped"))
      .map((file) => ({ name: file.replace(".ndjson", ""), text: readFileSync(new URL(file, CASES), "utf8") }))
      // A run has one host and sells at least one unit.
      .filter(
        ({ text }) => /"hosts":1[,}]/.test(text) && text.includes('"type":"end"') && !text.includes('"initial":0'),
      )
      .map(({ name, text }) => ({ name, make: () => plantRun(plantedHistory(name, text)) }))
  );
}

interface SaleTerms {
  readonly buyers: number;
  readonly initial: number;
  readonly fenced?: boolean;
  readonly failureRate?: number;
  readonly maxQuantity?: number;
}

function lockSale({ fenced = false, failureRate = 0, maxQuantity = 1, ...terms }: SaleTerms): Sale {
  return simulateLockSale({ seed: 7, hosts: 1, fenced, failureRate, maxQuantity, scale: MS, ...terms });
}

function historyOf(name: string, sale: Sale): PlantedHistory {
  return plantedHistory(name, toNdjson(sale));
}

const run = (name: string, sale: () => Sale, planting: Planting = {}): CorpusRun => ({
  name,
  make: () => plantRun(historyOf(name, sale()), planting),
});

/** A fault in the middle of a sale. */
function faultRun(faultId: string): CorpusRun {
  const name = `fault-${faultId}`;
  const make = () => {
    const history = historyOf(name, lockSale({ buyers: 60, initial: 20, fenced: true, failureRate: 0.2 }));
    const middle = BigInt(history.ops[30]?.invokedNs ?? "0");
    const at = (ms: number) => String(middle + BigInt(ms * MS));
    const fault: HistoryFaultLine = { type: "fault", faultId, fromNs: at(0), toNs: at(40), proof: "planted" };
    return plantRun({ ...history, faults: [fault] }, { request: { faults: [{ id: faultId, atMs: 100 }] } });
  };
  return { name, make };
}

/** Failed as the coordinator fails a run whose load generator died. */
function failedRun(name: string, sale: () => Sale): CorpusRun {
  const make = async () => {
    const document = withVerdict(await closePlanted(historyOf(name, sale())), null);
    return { ...document, status: "failed" as const, sentences: [FAILURE, ...document.sentences] };
  };
  return { name, make };
}

const safeSale = () => lockSale({ buyers: 120, initial: 40 });

export const CORPUS: readonly CorpusRun[] = [
  ...casesOfViolations(),
  ...FAULT_IDS.map(faultRun),
  run("safe", safeSale),
  run("safe-with-units-left", () => lockSale({ buyers: 40, initial: 100 })),
  run("several-units-each", () => lockSale({ buyers: 120, initial: 100, maxQuantity: 3 })),
  run("fenced", () => lockSale({ buyers: 120, initial: 40, fenced: true, failureRate: 0.3 })),
  run("errors", () => lockSale({ buyers: 120, initial: 40, failureRate: 0.3 })),
  run("counted-outside", () =>
    simulateCounterSale({
      seed: 3,
      buyers: 120,
      initial: 40,
      failureRate: 0.2,
      recordsValues: true,
      maxQuantity: 1,
      maxDelay: 50 * MS,
    }),
  ),
  run("closed-loop", () => lockSale({ buyers: 300, initial: 250 }), { request: { vus: 32 } }),
  run("arrival-rate", safeSale, { request: { rate: 100, durationMs: 1_000 } }),
  run("no-report", safeSale, { client: null }),
  run("generator-fell-behind", safeSale, { client: { generatorLagP99Ms: 9_000, droppedIterations: 12 } }),
  run("missed-fault", safeSale, { missedFaults: [{ faultId: "pause-holder", reason: "no holder was seen" }] }),
  run("20000-buyers", () => lockSale({ buyers: 20_000, initial: 500 })),
  failedRun("failed", safeSale),
  failedRun("failed-without-a-purchase", () => {
    const sale = safeSale();
    return { ...sale, ops: [], end: { ...sale.end, final: 40, orders: [] } };
  }),
];
