"use client";

import { type KeyboardEvent, useEffect, useRef } from "react";
import { coverText, type FindingGroup, findingTimeText, kindText } from "@/app/_lib/finding-text";
import { plural } from "@/app/_lib/format";
import type { FindingPart } from "@/lib/history/finding";
import type { NamedFinding } from "@/lib/runs/evidence";
import styles from "./finding-list.module.css";

interface FindingListProps {
  readonly groups: readonly FindingGroup<NamedFinding>[];
  readonly counts: Readonly<Record<string, number>>;
  readonly chosen: string | null;
  readonly onChoose: (name: string) => void;
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
      {groups.map(({ kind, findings }) => (
        // A group that has nothing to do with the verdict is folded, unless its finding is shown.
        <details key={kind} open={findings.some(({ isViolation, name }) => isViolation || name === chosen)}>
          <summary>
            <h3>
              {kindText(kind, 2)} <span className={styles.count}>{coverText(findings, counts[kind] ?? 0)}</span>
            </h3>
          </summary>
          <ol>
            {findings.map((finding) => (
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
                {finding.name === chosen && finding.parts ? <Parts finding={finding} parts={finding.parts} /> : null}
              </li>
            ))}
          </ol>
        </details>
      ))}
    </section>
  );
}

/** The violations that the shown finding covers. */
function Parts({ finding: { covers = 0 }, parts }: { finding: NamedFinding; parts: readonly FindingPart[] }) {
  const more = covers - parts.length;
  return (
    <ul className={styles.parts}>
      {parts.map(({ opIds, sentence }) => (
        <li key={opIds.join(" ")}>{sentence}</li>
      ))}
      {more > 0 ? <li className="muted">{plural(more, "more like these", "more like these")}</li> : null}
    </ul>
  );
}
