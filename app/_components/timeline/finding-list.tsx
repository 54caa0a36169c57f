"use client";

import { useEffect, useRef } from "react";
import { type FindingGroup, kindWords, momentWords } from "@/app/_lib/finding-words";
import type { NamedFinding } from "@/lib/runs/evidence";
import styles from "./finding-list.module.css";

interface FindingListProps {
  readonly groups: readonly FindingGroup<NamedFinding>[];
  readonly counts: Readonly<Record<string, number>>;
  readonly chosen: string | null;
  readonly onChoose: (name: string) => void;
}

function headingOf({ findings }: FindingGroup<NamedFinding>, count: number): string {
  const more = count > findings.length && findings.length >= 100 ? `, the first ${findings.length} listed` : "";
  return `${count}${more}`;
}

/** Every finding as a sentence; choosing one shows its lines and brings its purchases into view. */
export function FindingList({ groups, counts, chosen, onChoose }: FindingListProps) {
  const box = useRef<HTMLElement>(null);

  useEffect(() => {
    const list = box.current;
    const item = list?.querySelector<HTMLElement>(`[data-name="${chosen}"]`);
    if (!list || !item) return;
    // The list moves and the page does not.
    const above = item.offsetTop - list.offsetTop;
    if (above < list.scrollTop || above + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = above - 40;
    }
  }, [chosen]);

  return (
    <section ref={box} className={styles.list} aria-label="What the checkers found">
      {groups.map((group) => (
        <div key={group.kind}>
          <h3>
            {kindWords(group.kind, 2)}{" "}
            <span className={styles.count}>{headingOf(group, counts[group.kind] ?? group.findings.length)}</span>
          </h3>
          <ol>
            {group.findings.map((finding) => (
              <li key={finding.name}>
                <button
                  type="button"
                  className={styles.finding}
                  data-name={finding.name}
                  aria-current={finding.name === chosen}
                  onClick={() => onChoose(finding.name)}
                >
                  <span className={styles.moment}>{momentWords(finding.atUs)}</span>
                  <span>{finding.sentence}</span>
                </button>
              </li>
            ))}
          </ol>
        </div>
      ))}
    </section>
  );
}
