"use client";

import { type KeyboardEvent, useEffect, useRef } from "react";
import { type FindingGroup, findingTimeText, kindText } from "@/app/_lib/finding-text";
import type { NamedFinding } from "@/lib/runs/evidence";
import styles from "./finding-list.module.css";

interface FindingListProps {
  readonly groups: readonly FindingGroup<NamedFinding>[];
  readonly counts: Readonly<Record<string, number>>;
  readonly chosen: string | null;
  readonly onChoose: (name: string) => void;
}

function headingOf({ findings }: FindingGroup<NamedFinding>, count: number): string {
  const more = count > findings.length && findings.length >= 100 ? `, first ${findings.length} listed` : "";
  return `${count}${more}`;
}

/** Step that a key makes in the list; 0 if the list does not handle the key. */
function stepOf(key: string): number {
  return key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
}

/**
 * Every finding as a sentence; selecting one shows its interleaving and moves the timeline to it. The list is one tab
 * stop, because it may have hundreds of items; the arrow keys move within it.
 */
export function FindingList({ groups, counts, chosen, onChoose }: FindingListProps) {
  const box = useRef<HTMLElement>(null);

  useEffect(() => {
    const list = box.current;
    const item = list?.querySelector<HTMLElement>(`[data-name="${chosen}"]`);
    if (!list || !item) return;
    // Scrolls the list only, not the page; offsetTop is relative to the list.
    const above = item.offsetTop;
    if (above < list.scrollTop || above + item.offsetHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = above - 40;
    }
  }, [chosen]);

  const names = groups.flatMap(({ findings }) => findings.map(({ name }) => name));
  const tabStop = names.includes(chosen ?? "") ? chosen : names[0];
  const onKeyDown = (event: KeyboardEvent) => {
    const step = stepOf(event.key);
    const next = names[names.indexOf(tabStop ?? "") + step];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    onChoose(next);
    box.current?.querySelector<HTMLElement>(`[data-name="${next}"]`)?.focus({ preventScroll: true });
  };

  return (
    <section ref={box} className={styles.list} aria-label="Findings">
      {groups.map((group) => (
        <div key={group.kind}>
          <h3>
            {kindText(group.kind, 2)}{" "}
            <span className={styles.count}>{headingOf(group, counts[group.kind] ?? group.findings.length)}</span>
          </h3>
          <ol>
            {group.findings.map((finding) => (
              <li key={finding.name}>
                <button
                  type="button"
                  className={styles.finding}
                  data-name={finding.name}
                  tabIndex={finding.name === tabStop ? 0 : -1}
                  onKeyDown={onKeyDown}
                  aria-current={finding.name === chosen}
                  onClick={() => onChoose(finding.name)}
                >
                  <span className={styles.time}>{findingTimeText(finding.atUs)}</span>
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
