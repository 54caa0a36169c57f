import { Suspense } from "react";
import { loadInitialEvidence } from "@/app/_lib/initial-evidence";
import type { ChapterStep, Outcome } from "@/app/_lib/learn/chapter";
import { chapterResult } from "@/app/_lib/learn/chapter-result";
import { modelOf } from "@/app/_lib/run-model";
import type { RunDocument } from "@/lib/runs/document";
import { VerdictHead } from "../run/verdict-head";
import { Evidence } from "../timeline/evidence";
import { EvidenceLoading } from "../timeline/evidence-section";
import { EffectWord } from "../ui/effect-word";
import { LabLink } from "../ui/lab-link";
import styles from "./learn.module.css";
import { LearnText, Paragraphs } from "./learn-text";

interface RevealProps {
  readonly step: ChapterStep;
  readonly answer: Outcome | null;
  readonly document: RunDocument;
}

/** What the run shows: the prediction against the verdict, the verdict, the story with its replay, and the lesson. */
export function Reveal({ step, answer, document }: RevealProps) {
  const { measured, detail, judgement, reply, remark, surprise } = chapterResult(step, answer, document);
  return (
    <>
      <div className={styles.result} data-testid="chapter-result" data-measured={measured}>
        <p className={styles.judgement} role="status">
          <EffectWord effect={measured} />
          {detail === "" ? null : <span className={styles.detail}>{detail}</span>}
        </p>
        {judgement === null ? null : <p>{judgement}</p>}
        {reply === null ? null : (
          <p className={styles.reply}>
            <LearnText text={reply} />
          </p>
        )}
        {remark === null ? null : <p>{remark}</p>}
        {surprise === null ? null : <p className={styles.surprise}>{surprise}</p>}
      </div>
      <div className={styles.evidence}>
        <VerdictHead model={modelOf(document, [])} />
        <Suspense fallback={<EvidenceLoading document={document} />}>
          <ChapterEvidence document={document} />
        </Suspense>
        <p className={styles.note}>
          <LabLink href={`/runs/${document.id}`}>Open this run</LabLink> for its checks, charts and exports. The address
          of this page shows the same run to others.
        </p>
      </div>
      {surprise === null ? (
        <div className={styles.lesson}>
          <h3>What to remember</h3>
          <Paragraphs texts={step.lesson} />
        </div>
      ) : null}
    </>
  );
}

async function ChapterEvidence({ document }: { document: RunDocument }) {
  const opening = await loadInitialEvidence(document, { finding: null, range: null });
  return <Evidence runId={document.id} opening={opening} isOwnPage={false} />;
}
