import { mainFiguresOf } from "@/app/_lib/main-figures";
import type { Figures } from "@/app/_lib/run-view";
import styles from "./figure-row.module.css";

/** The six main figures, in boxes of fixed size. */
export function FigureRow({ figures }: { figures: Figures }) {
  return (
    <dl className={styles.row}>
      {mainFiguresOf(figures).map(({ label, hint, text, unit, isAlarm, reserved }) => (
        <div key={label} className={styles.tile}>
          <dt title={hint}>{label}</dt>
          <dd>
            <span className={isAlarm ? `${styles.value} alarm` : styles.value} style={{ minWidth: `${reserved}ch` }}>
              {text}
            </span>
            {unit === "" ? null : <span className={styles.unit}>{unit}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
