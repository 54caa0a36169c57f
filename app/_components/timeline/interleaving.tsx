import { afterText } from "@/app/_lib/finding-text";
import type { InterleavingStep, Interleaving as Lines } from "@/lib/history/interleaving";
import styles from "./interleaving.module.css";

interface InterleavingProps {
  readonly lines: Lines;
  /** Also show the steps that are not needed to understand the finding. */
  readonly showsAllSteps: boolean;
  readonly caption: string;
}

/** Limit of columns that fit side by side on a phone. */
const MAX_COLUMNS = 2;

function Mark() {
  return <span className="visually-hidden">, this step caused the violation</span>;
}

/** One column per actor. */
function SideBySide({ lines, steps }: { lines: Lines; steps: readonly InterleavingStep[] }) {
  return (
    <>
      <thead>
        <tr>
          <th scope="col" className="num">
            ms
          </th>
          {lines.actors.map((actor) => (
            <th key={actor.opId} scope="col" title={`operation ${actor.opId}`}>
              {actor.node} <span className={styles.buyer}>{actor.buyerId}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={`${step.opId} ${step.field} ${step.afterNs}`} data-marked={step.isMarked} data-testid="step">
            <th scope="row" className="num">
              {afterText(step.afterNs)}
            </th>
            {step.opId === null ? <td colSpan={lines.actors.length}>{step.text}</td> : null}
            {(step.opId === null ? [] : lines.actors).map((actor) => (
              <td key={actor.opId}>
                {actor.opId === step.opId ? (
                  <>
                    {step.text}
                    {step.isMarked ? <Mark /> : null}
                  </>
                ) : null}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </>
  );
}

/** One row per step with the actor's name, for more than two actors. */
function StackedSteps({ lines, steps }: { lines: Lines; steps: readonly InterleavingStep[] }) {
  const actorOf = new Map(lines.actors.map((actor) => [actor.opId, actor]));
  return (
    <>
      <thead>
        <tr>
          <th scope="col" className="num">
            ms
          </th>
          <th scope="col">purchase</th>
          <th scope="col">step</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={`${step.opId} ${step.field} ${step.afterNs}`} data-marked={step.isMarked} data-testid="step">
            <th scope="row" className="num">
              {afterText(step.afterNs)}
            </th>
            <td>
              {actorOf.get(step.opId ?? "")?.node}{" "}
              <span className={styles.buyer}>{actorOf.get(step.opId ?? "")?.buyerId}</span>
            </td>
            <td>
              {step.text}
              {step.isMarked ? <Mark /> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </>
  );
}

/** The steps of a few purchases in time order; the steps that caused the violation are marked. */
export function Interleaving({ lines, showsAllSteps, caption }: InterleavingProps) {
  const steps = showsAllSteps ? lines.steps : lines.steps.filter(({ isDetail }) => !isDetail);
  const Body = lines.actors.length <= MAX_COLUMNS ? SideBySide : StackedSteps;
  return (
    <div className={styles.block}>
      {lines.actors.length === 0 ? null : (
        <table className={styles.table}>
          <caption className="visually-hidden">{caption}</caption>
          <Body lines={lines} steps={steps} />
        </table>
      )}
      {lines.isOneClock ? null : (
        <p className={styles.remark}>
          The order of steps on different hosts is unknown: each time is from its host's own clock.
        </p>
      )}
      {lines.remarks.map((remark) => (
        <p key={remark} className={styles.remark}>
          {remark}
        </p>
      ))}
    </div>
  );
}
