"use client";

import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import type { Pursuing } from "@/app/_hooks/shop/use-pursuit";
import { meaningOf } from "@/app/_lib/shop/answer";
import { answerWords, pursuitWords } from "@/app/_lib/shop/words";
import button from "../ui/button.module.css";
import styles from "./pursuit-note.module.css";

/** What became of a click so far. The reason is announced; the seconds until the next try are only shown. */
export function PursuitNote({ pursuing, done = "" }: { pursuing: Pursuing; done?: string }) {
  const { pursuit, askAgain, letBe } = pursuing;
  const isWaiting = pursuit.phase === "waiting";
  const now = useLabNow(0, isWaiting ? 250 : null);
  const last = pursuit.phase === "idle" ? null : pursuit.last;
  const isDone = pursuit.phase === "settled" && last !== null && meaningOf(last) === "done";
  const secondsLeft = isWaiting ? Math.max(0, Math.ceil((pursuit.untilEpochMs - now) / 1_000)) : 0;
  const tone = last === null || isDone ? "calm" : meaningOf(last);
  return (
    <div className={styles.note} data-tone={tone} data-testid="note">
      <p role="status">{last === null ? "" : isDone ? done : answerWords(last)}</p>
      {last === null || pursuit.phase === "settled" ? null : (
        <p className={styles.next}>
          <span aria-hidden={isWaiting}>{pursuitWords(pursuit, Math.min(secondsLeft, 99))}</span>
          {pursuit.phase === "given_up" ? (
            <button type="button" className={button.link} onClick={askAgain}>
              {meaningOf(last) === "unknown" ? "Ask again" : "Try again"}
            </button>
          ) : null}
          {pursuit.phase === "sending" ? null : (
            <button type="button" className={button.link} onClick={letBe}>
              Stop
            </button>
          )}
        </p>
      )}
    </div>
  );
}
