import { text } from "node:stream/consumers";
import { AppRouterContext, type AppRouterInstance } from "next/dist/shared/lib/app-router-context.shared-runtime";
import type { ReactNode } from "react";
import { prerenderToNodeStream } from "react-dom/static";
import { CompareTable } from "../../app/_components/compare/compare-table";
import { Comparison } from "../../app/_components/compare/comparison";
import { LabPage } from "../../app/_components/lab/lab-page";
import { RunPage } from "../../app/_components/runs/run-page";
import { RunsTable } from "../../app/_components/runs/runs-table";
import { LabStatusProvider } from "../../app/_components/site/lab-status";
import { StrategyPage } from "../../app/_components/strategies/strategy-page";
import { commonSettings, compareRows } from "../../app/_lib/compare-rows";
import { NO_SELECTION } from "../../app/_lib/compare-selection";
import { comparedRuns } from "../../app/_lib/compared-runs";
import { exportedHtml } from "../../app/_lib/export/run-export";
import { listedRun } from "../../app/_lib/listed-run";
import { configOfRun } from "../../app/_lib/run-config";
import { faultsOf } from "../../app/_lib/strategies/strategy-faults";
import type { Catalogue, CatalogueStrategy } from "../../app/_lib/strategy-catalogue";
import { FAULT_IDS } from "../../lib/faults/ids";
import type { RunDocument } from "../../lib/runs/document";
import { recordedCommands } from "../../lib/stock/recorded-commands";
import { stockStrategies } from "../../lib/stock/stock-strategies";

/** Renders pages as the server does, with every suspended part. */

/** A page rendered on the server must not navigate. */
const navigate = () => {
  throw new Error("a page navigated while it was rendered");
};
const ROUTER: AppRouterInstance = {
  back: navigate,
  forward: navigate,
  refresh: navigate,
  push: navigate,
  replace: navigate,
  prefetch: () => undefined,
  bfcacheId: "",
} as unknown as AppRouterInstance;

const NO_CATALOGUE: Catalogue = {
  active: "none",
  strategies: [],
  services: [],
  engines: [],
  nodes: [],
  faults: [],
  adminTokenRequired: false,
};

async function rendered(page: ReactNode): Promise<string> {
  const errors: unknown[] = [];
  const site = (
    <AppRouterContext value={ROUTER}>
      <LabStatusProvider initial={NO_CATALOGUE} initiallyLoggedIn={false}>
        {page}
      </LabStatusProvider>
    </AppRouterContext>
  );
  const { prelude } = await prerenderToNodeStream(site, {
    onError: (error: unknown) => void errors.push(error),
    // A long part stays in its place instead of being sent after the page.
    progressiveChunkSize: Number.POSITIVE_INFINITY,
  });
  const html = await text(prelude);
  if (errors.length > 0) throw errors[0];
  return html;
}

export function runPage(document: RunDocument): Promise<string> {
  return rendered(<RunPage document={document} samples={[]} link={{ finding: null, range: null }} />);
}

export function runsList(documents: readonly RunDocument[]): Promise<string> {
  return rendered(
    <RunsTable
      runs={documents.map(listedRun)}
      total={documents.length}
      pageSize={documents.length}
      query={{ filter: {}, page: 1, picked: [] }}
      choices={{ strategies: [], sweeps: [] }}
    />,
  );
}

/** The Lab with this run as the last one of its strategy. */
export function labPage(document: RunDocument): Promise<string> {
  const runs = { latest: [document], samplesOf: document.id, samples: [] };
  const start = { config: configOfRun(document), active: null, preparing: null, runs };
  return rendered(<LabPage start={start} />);
}

/** Compare with each run as the last one of a strategy that has the run's id. */
export function compareTable(documents: readonly RunDocument[]): Promise<string> {
  const runs = documents.map((document) => ({ ...document, strategy: document.id }));
  const strategies = documents.map(({ id }) => ({ id }) as CatalogueStrategy);
  const { rows } = compareRows(strategies, runs);
  return rendered(<CompareTable rows={rows} common={commonSettings(rows)} picked={[]} />);
}

/** Compare with the repeats of each run side by side. */
export function comparison(documents: readonly RunDocument[], repeats: number): Promise<string> {
  const runs = documents.flatMap((document) =>
    Array.from({ length: repeats }, (_, repeat) => ({
      ...document,
      id: `${document.id}-${repeat}`,
      strategy: document.id,
    })),
  );
  const model = { ...comparedRuns(runs), missing: [], sweep: null };
  return rendered(<Comparison model={model} selection={NO_SELECTION} />);
}

/** The page of a strategy, with a run under each of these faults and one without. */
export function strategyPage(id: string, runs: ReadonlyMap<string, RunDocument>): Promise<string> {
  const { traits } = stockStrategies.get(id) ?? {};
  if (traits === undefined) throw new Error(`there is no strategy ${id}`);
  const faults = FAULT_IDS.map((fault) => ({ id: fault, does: "", topology: null, reasonsAgainst: {} }));
  const lab = { nodes: [1, 2, 3].map((node) => ({ name: `node-${node}`, url: "" })), engines: [], faults };
  const labels = { familyLabel: traits.family, needsLabels: [], available: true, unavailableReason: null };
  return rendered(
    <StrategyPage
      strategy={{ ...traits, ...labels }}
      recording={recordedCommands.strategies[id]}
      scripts={recordedCommands.scripts}
      serverLabels={new Map()}
      faults={faultsOf(traits, lab)}
      newest={runs}
      runs={[...runs.values()]}
    />,
  );
}

export function exportedPage(document: RunDocument): Promise<string> {
  return exportedHtml(document, []);
}
