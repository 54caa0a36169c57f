"use client";

import type { RequestControl } from "@/app/_hooks/shop/use-idempotent-request";
import { useLabNow } from "@/app/_hooks/shop/use-lab-now";
import { classOf } from "@/app/_lib/shop/answer";
import { answerText, nextStepText } from "@/app/_lib/shop/shop-text";
import button from "../ui/button.module.css";
import styles from "./request-status.module.css";

/** Status of a request. Screen readers announce the reason, but not the countdown to the next retry. */
export function RequestStatus({ request, done = "" }: { request: RequestControl; done?: string }) {
  const { requestState, retry, stop } = request;
  const isWaiting = requestState.phase === "waiting";
  const now = useLabNow(0, isWaiting ? 250 : null);
  const last = requestState.phase === "idle" ? null : requestState.last;
  const isDone = requestState.phase === "settled" && last !== null && classOf(last) === "completed";
  const secondsLeft = isWaiting ? Math.max(0, Math.ceil((requestState.untilEpochMs - now) / 1_000)) : 0;
  const tone = last === null || isDone ? "calm" : classOf(last);
  return (
    <div className={styles.note} data-tone={tone} data-testid="note">
      <p role="status">{last === null ? "" : isDone ? done : answerText(last)}</p>
      {last === null || requestState.phase === "settled" ? null : (
        <p className={styles.next}>
          <span aria-hidden={isWaiting}>{nextStepText(requestState, Math.min(secondsLeft, 99))}</span>
          {requestState.phase === "given_up" ? (
            <button type="button" className={button.link} onClick={retry}>
              {classOf(last) === "unknown" ? "Check again" : "Try again"}
            </button>
          ) : null}
          {requestState.phase === "sending" ? null : (
            <button type="button" className={button.link} onClick={stop}>
              Stop
            </button>
          )}
        </p>
      )}
    </div>
  );
}
