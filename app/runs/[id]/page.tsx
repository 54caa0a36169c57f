import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { RunPage } from "../../_components/runs/run-page";
import { readEvidenceParams } from "../../_lib/evidence-url";
import { readRun, readSamples } from "../../_lib/lab-data";
import { TONE_TEXT, toneOf } from "../../_lib/verdict";

export const dynamic = "force-dynamic";

interface PageProps {
  readonly params: Promise<{ id: string }>;
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export async function generateMetadata({ params }: PageProps): Promise<Metadata> {
  const run = await readRun((await params).id);
  return { title: run === null ? "Run not found" : `${run.strategy}: ${TONE_TEXT[toneOf(run)].toLowerCase()}` };
}

export default async function Page({ params, searchParams }: PageProps) {
  const [{ id }, query] = await Promise.all([params, searchParams]);
  const run = await readRun(id);
  if (run === null) notFound();
  return <RunPage document={run} samples={await readSamples(id)} link={readEvidenceParams(query)} />;
}
