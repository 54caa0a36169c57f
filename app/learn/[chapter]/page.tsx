import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { ChapterPage } from "../../_components/learn/chapter-page";
import { readCatalogue, readRun, readSamples } from "../../_lib/lab-data";
import type { Chapter } from "../../_lib/learn/chapter";
import { presetOf, requestOf } from "../../_lib/learn/chapter-preset";
import { CHAPTERS } from "../../_lib/learn/chapters/all-chapters";
import { readAddress, stateOf } from "../../_lib/learn/learn-state";

export const dynamic = "force-dynamic";

interface PageProps {
  readonly params: Promise<{ chapter: string }>;
  readonly searchParams: Promise<Record<string, string | string[] | undefined>>;
}

async function chapterOf({ params }: PageProps): Promise<{ number: number; chapter: Chapter }> {
  const { chapter: text } = await params;
  const number = /^\d$/.test(text) ? Number(text) : 0;
  const chapter = CHAPTERS[number - 1];
  if (chapter === undefined) notFound();
  return { number, chapter };
}

export async function generateMetadata(props: PageProps): Promise<Metadata> {
  const { number, chapter } = await chapterOf(props);
  return { title: `${number}. ${chapter.title}` };
}

export default async function Page(props: PageProps) {
  const { number, chapter } = await chapterOf(props);
  const [query, catalogue] = await Promise.all([props.searchParams, readCatalogue()]);
  const address = readAddress(number, chapter.steps, query);
  const step = chapter.steps[address.step - 1] ?? chapter.steps[0];
  const document = address.run === null ? null : await readRun(address.run);
  const state = stateOf(address, document, step.cells.map(requestOf));
  const preset = presetOf(step.cells, catalogue);
  const strategyId = step.cells[0].strategy;
  return (
    <ChapterPage
      chapter={chapter}
      step={step}
      address={address}
      state={state}
      preset={preset}
      strategy={catalogue.strategies.find(({ id }) => id === strategyId)}
      samples={state.phase === "running" && address.run !== null ? await readSamples(address.run) : []}
    />
  );
}
