import { LabLink } from "@/app/_components/ui/lab-link";
import { pageText, type RunListQuery, runListHref } from "@/app/_lib/run-list-href";
import styles from "./run-pager.module.css";

interface RunPagerProps {
  readonly query: RunListQuery;
  readonly size: number;
  readonly total: number;
}

/** Moves through the pages of the list of runs; selected runs stay selected. */
export function RunPager({ query, size, total }: RunPagerProps) {
  const { page } = query;
  const last = Math.max(1, Math.ceil(total / size));
  if (last === 1 && page === 1) return null;
  const hrefOf = (next: number) => runListHref({ ...query, page: next });
  return (
    <nav className={styles.pager} aria-label="Pages of runs">
      {page > 1 ? (
        <LabLink href={hrefOf(Math.min(page - 1, last))} rel="prev">
          ‹ Newer
        </LabLink>
      ) : (
        <span />
      )}
      <span className={styles.position}>{pageText({ page, size, total })}</span>
      {page < last ? (
        <LabLink href={hrefOf(page + 1)} rel="next">
          Older ›
        </LabLink>
      ) : (
        <span />
      )}
    </nav>
  );
}
