"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { callShop } from "../../_lib/shop/call-shop";
import { pollPauseMs } from "../../_lib/shop/poll";

export interface Polled<T> {
  readonly value: T;
  /** The last request failed; the value is from an earlier one. */
  readonly isStale: boolean;
  readonly refresh: () => Promise<void>;
}

export interface PolledOptions<T> {
  /** Null: do not poll yet. */
  readonly path: string | null;
  readonly everyMs: number;
  readonly initial: T;
}

/**
 * Polls a value while the page is visible, with backoff on failures. Polls immediately when the page becomes visible or the
 * network is back.
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
    const poll = async () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") await refresh();
      clearTimeout(timer);
      if (!isStopped) timer = setTimeout(poll, pollPauseMs(everyMs, failures.current));
    };
    const pollNow = () => {
      if (document.visibilityState === "visible") void poll();
    };
    void poll();
    window.addEventListener("online", pollNow);
    document.addEventListener("visibilitychange", pollNow);
    return () => {
      isStopped = true;
      clearTimeout(timer);
      window.removeEventListener("online", pollNow);
      document.removeEventListener("visibilitychange", pollNow);
    };
  }, [path, refresh, everyMs]);

  return { ...state, refresh };
}
