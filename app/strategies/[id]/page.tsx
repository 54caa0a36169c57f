import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { recordedCommands } from "@/lib/stock/recorded-commands";
import { serverKinds } from "@/servers/all-servers";
import { StrategyPage } from "../../_components/strategies/strategy-page";
import { newestRunsByFault, readCatalogue, runsWithoutFaults } from "../../_lib/lab-data";
import { faultsOf } from "../../_lib/strategies/strategy-faults";

export const dynamic = "force-dynamic";

/** Runs whose figures the page shows. */
const SHOWN_RUNS = 5;

interface PageProps {
  readonly params: Promise<{ id: string }>;
}

async function strategyOf({ params }: PageProps) {
  const [{ id }, catalogue] = await Promise.all([params, readCatalogue()]);
  return { catalogue, strategy: catalogue.strategies.find((strategy) => strategy.id === id) };
}

export async function generateMetadata(props: PageProps): Promise<Metadata> {
  const { strategy } = await strategyOf(props);
  return { title: strategy?.id ?? "Strategy not found" };
}

export default async function Page(props: PageProps) {
  const { strategy, catalogue } = await strategyOf(props);
  if (strategy === undefined) notFound();
  const [newest, runs] = await Promise.all([
    newestRunsByFault(strategy.id),
    runsWithoutFaults(strategy.id, SHOWN_RUNS),
  ]);
  return (
    <StrategyPage
      strategy={strategy}
      recording={recordedCommands.strategies[strategy.id]}
      scripts={recordedCommands.scripts}
      serverLabels={new Map(serverKinds.map(({ id, label }) => [id, label]))}
      faults={faultsOf(strategy, catalogue)}
      newest={newest}
      runs={runs}
    />
  );
}
