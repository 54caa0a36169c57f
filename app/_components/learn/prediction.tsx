import Form from "next/form";
import { type ChapterStep, OUTCOMES, type Outcome } from "@/app/_lib/learn/chapter";
import { hrefOf, type LearnAddress } from "@/app/_lib/learn/learn-state";
import button from "../ui/button.module.css";
import { LabLink } from "../ui/lab-link";
import { LearnText } from "./learn-text";
import styles from "./prediction.module.css";

/** The words for the result of a run. */
const MEANINGS: Readonly<Record<Outcome, string>> = {
  safe: "every check of the run passes",
  unsafe: "a check finds a violation",
  blocked: "no purchase gets the lock any more",
};

interface PredictionProps {
  readonly step: ChapterStep;
  readonly address: LearnAddress;
}

/** The question with its answers, or the chosen answer. The form only changes the address, so it works without scripts. */
export function Prediction({ step, address }: PredictionProps) {
  return address.answer === null ? <Choice step={step} address={address} /> : <Chosen step={step} address={address} />;
}

function Choice({ step: { question, answers }, address }: PredictionProps) {
  return (
    <Form action={hrefOf({ chapter: address.chapter })} scroll={false} prefetch={false} className={styles.form}>
      {address.step === 1 ? null : <input type="hidden" name="step" value={address.step} />}
      {address.run === null ? null : <input type="hidden" name="run" value={address.run} />}
      <fieldset>
        <legend>
          <LearnText text={question} />
        </legend>
        {OUTCOMES.map((outcome) => (
          <label key={outcome} className={styles.answer}>
            <input type="radio" name="answer" value={outcome} required />
            <span>
              <LearnText text={answers[outcome].claim} />
            </span>
            <span className={styles.outcome}>{outcome}</span>
          </label>
        ))}
      </fieldset>
      <p className={styles.outcome}>{OUTCOMES.map((outcome) => `${outcome}: ${MEANINGS[outcome]}`).join(" · ")}</p>
      <button type="submit" className={button.primary}>
        This is my prediction
      </button>
    </Form>
  );
}

function Chosen({ step: { question, answers }, address }: PredictionProps) {
  if (address.answer === null) return null;
  return (
    <div className={styles.chosen}>
      <p className={styles.question}>
        <LearnText text={question} />
      </p>
      <p>
        <LearnText text={answers[address.answer].claim} /> <span className={styles.outcome}>{address.answer}</span>
      </p>
      <p>
        <LabLink href={hrefOf({ ...address, answer: null, run: null })} scroll={false}>
          Change the prediction
        </LabLink>
      </p>
    </div>
  );
}
