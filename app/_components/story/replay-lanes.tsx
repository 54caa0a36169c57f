import type { CSSProperties } from "react";
import { LANE_KEYS, type Replay } from "@/app/_lib/replay/replay";
import styles from "./replay.module.css";

/** The parts that `ReplayPlayer` moves have a `data-replay` attribute. Until it starts, they show the end of the story. */

export function ReplayControls({ replay: { data } }: { replay: Replay }) {
  return (
    <div className={styles.controls} data-print="no">
      <button type="button" className={styles.play} data-replay="play">
        Play
      </button>
      <button type="button" aria-label="Previous step" title="Previous step (←)" data-replay="back">
        ‹
      </button>
      <button type="button" aria-label="Next step" title="Next step (→)" data-replay="on">
        ›
      </button>
      <label>
        <input type="checkbox" data-replay="slow" /> 1/10 speed
      </label>
      <span className={styles.time} data-replay="time" data-testid="replay-time">
        {data.times.at(-1)}
      </span>
    </div>
  );
}

/** One lane for each purchase, for the lock and for the stock, with the position of the replay. */
export function ReplayLanes({ replay: { lanes, data } }: { replay: Replay }) {
  const states = data.states.at(-1) ?? [];
  return (
    <>
      <div className={styles.lanes}>
        {lanes.map(({ kind, name, bars }, index) => (
          <div key={`${kind} ${name}`} className={styles.lane} data-kind={kind}>
            <p className={styles.name}>
              {name}
              <span className={styles.state} data-replay="state">
                {states[index]}
              </span>
            </p>
            <div className={styles.track} aria-hidden="true">
              {bars.map(({ left, width, state, text }) => (
                <i
                  key={`${left} ${state}`}
                  className={styles.bar}
                  data-state={state}
                  title={text}
                  style={{ left: `${left}%`, width: `${width}%`, "--length": text.length } as CSSProperties}
                >
                  <span>{text}</span>
                </i>
              ))}
            </div>
          </div>
        ))}
        <div className={styles.next} aria-hidden="true" />
      </div>
      <input
        type="range"
        className={styles.seek}
        min={0}
        max={1}
        step="any"
        defaultValue={1}
        aria-label="Position in the replay"
        aria-valuetext={data.texts.at(-1)}
        data-replay="seek"
        data-print="no"
      />
      <div className={styles.foot}>
        <ul>
          {LANE_KEYS.filter(({ states: those }) =>
            lanes.some(({ bars }) => bars.some(({ state }) => those.includes(state))),
          ).map(({ states: [state], text }) => (
            <li key={text}>
              <span className={styles.swatch} data-state={state} />
              {text}
            </li>
          ))}
        </ul>
        <p>
          Long gaps are drawn shorter.{" "}
          <span data-print="no">
            <kbd>←</kbd> <kbd>→</kbd> step, <kbd>Home</kbd> <kbd>End</kbd>
          </span>
        </p>
      </div>
    </>
  );
}
