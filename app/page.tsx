import { LabPage } from "./_components/lab/lab-page";
import { latestRunPerStrategy, listRuns, readCatalogue, readSamples } from "./_lib/lab-data";
import { configFromQuery, type Query } from "./_lib/run-config";
import { preferredEngine } from "./_lib/strategy-catalogue";

export const dynamic = "force-dynamic";

export default async function Page({ searchParams }: { searchParams: Promise<Query> }) {
  const [query, catalogue, latest, newest] = await Promise.all([
    searchParams,
    readCatalogue(),
    latestRunPerStrategy(),
    listRuns(1),
  ]);
  const config = configFromQuery(query, {
    nodes: Math.max(1, catalogue.nodes.length),
    engine: preferredEngine(catalogue.engines),
  });
  const shown = latest.find((run) => run.strategy === config.strategy) ?? null;
  const samples = shown === null ? [] : await readSamples(shown.id);
  const active = newest.runs.find((run) => run.status === "running") ?? null;
  return (
    <LabPage
      start={{ config, active, preparing: newest.preparing, runs: { latest, samplesOf: shown?.id ?? null, samples } }}
    />
  );
}
