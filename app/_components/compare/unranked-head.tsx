import styles from "./unranked-head.module.css";

/** Heading of the rows below the safe ones, whose speed is shown but has no rank. */
export function UnrankedHead({ columns }: { columns: number }) {
  return (
    <tr className={styles.head}>
      <th colSpan={columns} scope="rowgroup">
        Not ranked{" "}
        <span className={styles.why}>
          Unsafe or inconclusive. Only safe runs are ranked by speed: a run that breaks a promise skips work that the
          others do.
        </span>
      </th>
    </tr>
  );
}
