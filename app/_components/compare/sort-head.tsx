import styles from "./sort-head.module.css";

interface SortHeadProps {
  readonly label: string;
  readonly unit?: string | undefined;
  readonly hint: string;
  readonly isNumber: boolean;
  /** How the table is sorted by this column; null when it is sorted by another. */
  readonly direction: "ascending" | "descending" | null;
  readonly onSort: () => void;
}

/** The head of a column that a table can be sorted by, with the mouse or the keyboard. */
export function SortHead({ label, unit, hint, isNumber, direction, onSort }: SortHeadProps) {
  return (
    <th scope="col" aria-sort={direction ?? undefined} className={isNumber ? "num" : undefined}>
      <button type="button" className={styles.sort} title={hint} onClick={onSort}>
        <span className={styles.arrow} aria-hidden="true">
          {direction === null ? "" : direction === "ascending" ? "↑ " : "↓ "}
        </span>
        {label}
        {unit ? <span className={styles.unit}> {unit}</span> : null}
      </button>
    </th>
  );
}
