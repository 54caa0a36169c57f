"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { callShop } from "../../_lib/shop/call-shop";
import { pollPauseMs } from "../../_lib/shop/poll";

export interface Polled<T> {
  readonly value: T;
  /** The last answer was an error, or there was none; the value is the last one known. */
  readonly isStale: boolean;
  readonly refresh: () => Promise<void>;
}

export interface PolledOptions<T> {
  /** Null: not yet. */
  readonly path: string | null;
  readonly everyMs: number;
  readonly initial: T;
}

/**
 * Keeps a value up to date while somebody looks: every few seconds, seldomer while there is no answer, at once when the page
 * comes back to the front or the network comes back, never while the page is hidden.
 */
export function usePolled<T>({ path, everyMs, initial }: PolledOptions<T>): Polled<T> {
  const [state, setState] = useState({ value: initial, isStale: false });
  const failures = useRef(0);

  const refresh = useCallback(async () => {
    if (path === null) return;
    const answer = await callShop({ path });
    failures.current = answer.status === 200 ? 0 : failures.current + 1;
    setState((before) =>
      answer.status === 200 ? { value: answer.body as T, isStale: false } : { ...before, isStale: true },
    );
  }, [path]);

  useEffect(() => {
    if (path === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isStopped = false;
    const look = async () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") await refresh();
      clearTimeout(timer);
      if (!isStopped) timer = setTimeout(look, pollPauseMs(everyMs, failures.current));
    };
    const lookNow = () => {
      if (document.visibilityState === "visible") void look();
    };
    void look();
    window.addEventListener("online", lookNow);
    document.addEventListener("visibilitychange", lookNow);
    return () => {
      isStopped = true;
      clearTimeout(timer);
      window.removeEventListener("online", lookNow);
      document.removeEventListener("visibilitychange", lookNow);
    };
  }, [path, refresh, everyMs]);

  return { ...state, refresh };
}
