import { afterText } from "@/app/_lib/finding-text";
import { keepUnits } from "@/app/_lib/format";
import { runTimeText } from "@/app/_lib/replay/replay";
import type { InterleavingStep, Interleaving as Lines } from "@/lib/history/merge-steps";
import styles from "./interleaving.module.css";

interface InterleavingProps {
  readonly lines: Lines;
  /** Also show the steps that are not needed to understand the finding. */
  readonly showsAllSteps: boolean;
  readonly caption: string;
  /** For a story: the run's time at the first step, in microseconds. Times are then times of the run, and the replay moves the lines. */
  readonly fromUs?: number | undefined;
}

interface BodyProps extends Pick<InterleavingProps, "lines" | "fromUs"> {
  readonly steps: readonly InterleavingStep[];
}

/** Limit of columns that fit side by side on a phone. */
const MAX_COLUMNS = 2;

function Mark() {
  return <span className="visually-hidden">, this step caused the violation</span>;
}

function TimeHead({ fromUs }: Pick<BodyProps, "fromUs">) {
  return (
    <th
      scope="col"
      className="num"
      title={fromUs === undefined ? "since the first step" : "since the run's first purchase"}
    >
      {fromUs === undefined ? "ms" : "s"}
    </th>
  );
}

function timeText({ afterNs }: InterleavingStep, fromUs: number | undefined): string {
  return fromUs === undefined ? afterText(afterNs) : runTimeText(fromUs, afterNs);
}

/** Attributes of a step's row. Details are no steps of the replay. */
function rowProps(step: InterleavingStep, fromUs: number | undefined) {
  return {
    "data-marked": step.isMarked,
    "data-testid": "step",
    ...(fromUs === undefined || step.isDetail ? {} : { "data-replay": "line" }),
  };
}

/** One column per actor. */
function SideBySide({ lines, steps, fromUs }: BodyProps) {
  return (
    <>
      <thead>
        <tr>
          <TimeHead fromUs={fromUs} />
          {lines.actors.map((actor) => (
            <th key={actor.opId} scope="col" title={`operation ${actor.opId}`}>
              {actor.node} <span className={styles.buyer}>{actor.buyerId}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={`${step.opId} ${step.field} ${step.afterNs}`} {...rowProps(step, fromUs)}>
            <th scope="row" className="num">
              {timeText(step, fromUs)}
            </th>
            {step.opId === null ? <td colSpan={lines.actors.length}>{keepUnits(step.text)}</td> : null}
            {(step.opId === null ? [] : lines.actors).map((actor) => (
              <td key={actor.opId}>
                {actor.opId === step.opId ? (
                  <>
                    {keepUnits(step.text)}
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
function StackedSteps({ lines, steps, fromUs }: BodyProps) {
  const actorOf = new Map(lines.actors.map((actor) => [actor.opId, actor]));
  return (
    <>
      <thead>
        <tr>
          <TimeHead fromUs={fromUs} />
          <th scope="col">purchase</th>
          <th scope="col">step</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={`${step.opId} ${step.field} ${step.afterNs}`} {...rowProps(step, fromUs)}>
            <th scope="row" className="num">
              {timeText(step, fromUs)}
            </th>
            <td>
              {actorOf.get(step.opId ?? "")?.node}{" "}
              <span className={styles.buyer}>{actorOf.get(step.opId ?? "")?.buyerId}</span>
            </td>
            <td>
              {keepUnits(step.text)}
              {step.isMarked ? <Mark /> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </>
  );
}

/** The steps of a few purchases in time order; the steps that caused the violation are marked. */
export function Interleaving({ lines, showsAllSteps, caption, fromUs }: InterleavingProps) {
  const steps = showsAllSteps ? lines.steps : lines.steps.filter(({ isDetail }) => !isDetail);
  const Body = lines.actors.length <= MAX_COLUMNS ? SideBySide : StackedSteps;
  return (
    <div className={styles.block}>
      {lines.actors.length === 0 ? null : (
        <table className={styles.table}>
          <caption className="visually-hidden">{caption}</caption>
          <Body lines={lines} steps={steps} fromUs={fromUs} />
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
