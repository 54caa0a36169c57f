import type { Chapter, ChapterStep } from "@/app/_lib/learn/chapter";
import type { NoPreset, Preset } from "@/app/_lib/learn/chapter-preset";
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
  const { chapter, step, address, preset, strategy } = props;
  const number = address.chapter;
  const part = chapter.steps.length === 1 ? "" : ` Part ${address.step} of ${chapter.steps.length}.`;
  return (
    <PageFrame title={`${number}. ${chapter.title}`} lead={`${chapter.lead}${part}`}>
      <ChapterNav current={number} />
      <div className={styles.text}>
        <Paragraphs texts={step.text} />
      </div>
      <section className={styles.section} aria-labelledby="predict">
        <h2 id="predict">Predict</h2>
        {"reasons" in preset ? (
          <div className={styles.absent}>
            {preset.reasons.map((reason) => (
              <p key={reason}>{reason}</p>
            ))}
          </div>
        ) : (
          <PresetFacts
            preset={preset}
            mechanism={strategy?.mechanism ?? ""}
            hasLease={strategy !== undefined && strategy.expiryClock !== "none"}
          />
        )}
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
  const isOver = phase === "revealed";
  const start = "reasons" in preset ? null : <Start preset={preset} address={address} isOver={isOver} />;
  return (
    <section className={styles.section} aria-labelledby="run" id="run-section">
      <h2 id="run">{isOver ? "What happened" : "Run"}</h2>
      <p role="alert" className={styles.problem}>
        {problem}
      </p>
      {phase === "running" && document !== null ? <FollowRun document={document} samples={samples} /> : null}
      {isOver && document !== null ? (
        <Reveal step={step} answer={address.answer} document={document} again={start} />
      ) : null}
      {phase === "run" ? start : null}
    </section>
  );
}

interface StartProps extends Pick<ChapterPageProps, "address"> {
  readonly preset: Preset;
  /** The reader has seen a result. */
  readonly isOver: boolean;
}

function Start({ preset: { request, command }, address, isOver }: StartProps) {
  return (
    <div>
      <StartRun
        key={address.run}
        request={request}
        address={address}
        label={isOver ? "Run it again" : "Run it"}
        isSecondary={isOver}
      />
      <p className={styles.note}>
        In a terminal: <code className={styles.command}>{command}</code>
      </p>
    </div>
  );
}

/** The links to what comes next: the main one when the reader has seen the result. */
function Onward({ step, address, state }: ChapterPageProps) {
  const { chapter } = address;
  const following = CHAPTERS[chapter];
  const next =
    step.next !== undefined
      ? { href: hrefOf({ chapter, step: address.step + 1 }), label: step.next }
      : following !== undefined
        ? { href: hrefOf({ chapter: chapter + 1 }), label: `Next: ${following.title}` }
        : { href: "/faults", label: "Next: every fault with every strategy" };
  return (
    <p className={styles.onward}>
      <LabLink href={next.href} className={state.phase === "revealed" ? button.primary : undefined}>
        {next.label}
      </LabLink>
    </p>
  );
}
