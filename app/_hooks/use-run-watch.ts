"use client";

import { useEffect, useRef } from "react";
import type { RunDocument } from "@/lib/runs/document";
import type { RunPageList } from "@/lib/runs/run-list";
import { callApi } from "../_lib/api";

const POLL_INTERVAL_MS = 2_000;
/** While a run is being opened, so that the page follows it from its first purchase. */
const OPENING_INTERVAL_MS = 500;

export interface NewestRun {
  readonly newest: RunDocument | null;
  /** A run that is being opened. */
  readonly preparing: RunDocument | null;
}

interface RunWatch {
  readonly enabled: boolean;
  readonly isOpening?: boolean;
}

/**
 * While the page follows no run, polls for runs opened elsewhere (k6 in a terminal, `lab run`, another tab), so that the
 * sale appears without a click.
 */
export function useRunWatch({ enabled, isOpening = false }: RunWatch, onAnswer: (answer: NewestRun) => void): void {
  const latest = useRef(onAnswer);
  latest.current = onAnswer;
  const everyMs = isOpening ? OPENING_INTERVAL_MS : POLL_INTERVAL_MS;

  useEffect(() => {
    if (!enabled) return;
    let stopped = false;
    const poll = async () => {
      if (document.visibilityState !== "visible") return;
      const result = await callApi<RunPageList>("/api/runs?limit=1");
      if (stopped || !result.ok) return;
      const { runs, preparing } = result.value;
      latest.current({ newest: runs[0] ?? null, preparing });
    };
    const timer = setInterval(() => void poll(), everyMs);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }, [enabled, everyMs]);
}
