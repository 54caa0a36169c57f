import type { Chapter, ChapterStep } from "@/app/_lib/learn/chapter";
import { type NoPreset, type Preset, setupOf } from "@/app/_lib/learn/chapter-preset";
import { CHAPTERS } from "@/app/_lib/learn/chapters/all-chapters";
import { hrefOf, type LearnAddress, type LearnState } from "@/app/_lib/learn/learn-state";
import type { CatalogueStrategy } from "@/app/_lib/strategy-catalogue";
import type { RunSample } from "@/lib/runs/run-sample";
import { PageFrame } from "../site/page-frame";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import { ChapterNav } from "./chapter-nav";
import { FollowRun } from "./follow-run";
import styles from "./learn.module.css";
import { Paragraphs } from "./learn-text";
import { Prediction } from "./prediction";
import { PresetFacts } from "./preset-facts";
import { Reveal } from "./reveal";
import { RunHeading } from "./run-heading";
import { StartRun } from "./start-run";

export interface ChapterPageProps {
  readonly chapter: Chapter;
  readonly step: ChapterStep;
  readonly address: LearnAddress;
  readonly state: LearnState;
  readonly preset: Preset | NoPreset;
  /** The strategy of the preset. */
  readonly strategy: CatalogueStrategy | undefined;
  /** Of an active run, as far as they are known. */
  readonly samples: readonly RunSample[];
}

/** One chapter: read, predict, run, see what happened, go on. */
export function ChapterPage(props: ChapterPageProps) {
  const { chapter, step, address, preset, strategy, state } = props;
  const setup = setupOf(step.cells, preset, state.document);
  const number = address.chapter;
  const part = chapter.steps.length === 1 ? "" : ` Part ${address.step} of ${chapter.steps.length}.`;
  return (
    <PageFrame title={`${number}. ${chapter.title}`} lead={`${chapter.lead}${part}`}>
      <ChapterNav current={number} />
      <div className={styles.text}>
        <Paragraphs texts={step.text} />
      </div>
      <section className={styles.section} aria-labelledby="setup">
        <h2 id="setup">Setup</h2>
        {setup === null && "reasons" in preset ? (
          <div className={styles.absent}>
            {preset.reasons.map((reason) => (
              <p key={reason}>{reason}</p>
            ))}
          </div>
        ) : null}
        {setup === null ? null : (
          <PresetFacts setup={setup} hasLease={strategy !== undefined && strategy.expiryClock !== "none"} />
        )}
      </section>
      <section className={styles.section} aria-labelledby="predict">
        <h2 id="predict">{address.answer === null ? "Predict" : "Your prediction"}</h2>
        <Prediction step={step} address={address} />
      </section>
      <RunSection {...props} />
      <Onward {...props} />
    </PageFrame>
  );
}

function RunSection({ step, address, state, preset, samples }: ChapterPageProps) {
  const { phase, document, problem } = state;
  if (phase === "predict") return <p role="alert">{problem}</p>;
  return (
    <section className={styles.section} aria-labelledby="run" id="run-section">
      <RunHeading phase={phase} />
      <p role="alert" className={styles.problem}>
        {problem}
      </p>
      {phase === "running" && document !== null ? <FollowRun document={document} samples={samples} /> : null}
      {phase === "revealed" && document !== null ? (
        <Reveal step={step} answer={address.answer} document={document} />
      ) : null}
      {phase === "run" && "request" in preset ? (
        <div>
          <StartRun request={preset.request} address={address} />
          <InTerminal preset={preset} />
        </div>
      ) : null}
    </section>
  );
}

function InTerminal({ preset: { command } }: { preset: Preset }) {
  return (
    <p className={styles.note}>
      In a terminal: <code className={styles.command}>{command}</code>
    </p>
  );
}

/** The links to what comes next: the main action when the reader has seen the result. */
function Onward({ step, address, state, preset }: ChapterPageProps) {
  const isOver = state.phase === "revealed";
  const { href, label } = nextOf(step, address);
  return (
    <div className={styles.onward}>
      <div className={styles.actions}>
        <LabLink href={href} className={isOver ? button.primary : undefined}>
          {label}
        </LabLink>
        {isOver && "request" in preset ? (
          <StartRun key={address.run} request={preset.request} address={address} isAgain />
        ) : null}
      </div>
      {isOver && "request" in preset ? <InTerminal preset={preset} /> : null}
    </div>
  );
}

function nextOf(step: ChapterStep, { chapter, step: number }: LearnAddress): { href: string; label: string } {
  if (step.next !== undefined) return { href: hrefOf({ chapter, step: number + 1 }), label: step.next };
  const following = CHAPTERS[chapter];
  return following === undefined
    ? { href: "/faults", label: "Next: every fault with every strategy" }
    : { href: hrefOf({ chapter: chapter + 1 }), label: `Next: ${following.title}` };
}
