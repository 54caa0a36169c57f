import { CHAPTERS } from "@/app/_lib/learn/chapters/all-chapters";
import { hrefOf } from "@/app/_lib/learn/learn-state";
import { LabLink } from "../ui/lab-link";
import styles from "./chapter-nav.module.css";

/** All chapters. On a phone, their numbers. */
export function ChapterNav({ current }: { current: number }) {
  return (
    <nav aria-label="Chapters">
      <ol className={styles.chapters}>
        {CHAPTERS.map(({ title }, index) => (
          <li key={title}>
            <LabLink href={hrefOf({ chapter: index + 1 })} aria-current={index + 1 === current ? "page" : undefined}>
              <span className={styles.number}>{index + 1}</span> <span className={styles.title}>{title}</span>
            </LabLink>
          </li>
        ))}
      </ol>
    </nav>
  );
}
