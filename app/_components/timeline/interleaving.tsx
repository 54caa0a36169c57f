import { afterText } from "@/app/_lib/finding-text";
import type { InterleavingStep, Interleaving as Lines } from "@/lib/history/interleaving";
import styles from "./interleaving.module.css";

interface InterleavingProps {
  readonly lines: Lines;
  /** Also the steps that tell nothing here. */
  readonly isWhole: boolean;
  readonly caption: string;
}

/** Side by side only as many as fit beside one another on a phone. */
const MOST_COLUMNS = 2;

function Mark() {
  return <span className="visually-hidden">, this is what went wrong</span>;
}

/** One column an actor: what each did reads downwards, who did what when reads across. */
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
          <tr key={`${step.opId} ${step.field}`} data-marked={step.isMarked} data-testid="step">
            <th scope="row" className="num">
              {afterText(step.afterNs)}
            </th>
            {lines.actors.map((actor) => (
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

/** More than two: the actor's name stands in the line. */
function StackedSteps({ lines, steps }: { lines: Lines; steps: readonly InterleavingStep[] }) {
  const actorOf = new Map(lines.actors.map((actor) => [actor.opId, actor]));
  return (
    <>
      <thead>
        <tr>
          <th scope="col" className="num">
            ms
          </th>
          <th scope="col">who</th>
          <th scope="col">what</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={`${step.opId} ${step.field}`} data-marked={step.isMarked} data-testid="step">
            <th scope="row" className="num">
              {afterText(step.afterNs)}
            </th>
            <td>
              {actorOf.get(step.opId)?.node} <span className={styles.buyer}>{actorOf.get(step.opId)?.buyerId}</span>
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

/** What a few purchases did, line by line in the order of the clock, with what went wrong marked. */
export function Interleaving({ lines, isWhole, caption }: InterleavingProps) {
  const steps = isWhole ? lines.steps : lines.steps.filter(({ isDetail }) => !isDetail);
  const Body = lines.actors.length <= MOST_COLUMNS ? SideBySide : StackedSteps;
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
          Times of different hosts stand in no order: each line is by its own host's clock.
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
