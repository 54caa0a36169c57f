import styles from "./sort-head.module.css";

interface SortHeadProps {
  readonly label: string;
  readonly unit?: string | undefined;
  readonly hint: string;
  readonly isNumber: boolean;
  /** Sort direction if the table is sorted by this column; else null. */
  readonly direction: "ascending" | "descending" | null;
  readonly onSort: () => void;
}

/** Header of a sortable column; its button works with mouse and keyboard. */
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
