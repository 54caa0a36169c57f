"use client";

import { useEffect, useRef } from "react";
import type { RunDocument } from "@/lib/runs/document";
import { callApi } from "../_lib/api";

const POLL_INTERVAL_MS = 2_000;

/**
 * While the page follows no run, polls for runs opened elsewhere (k6 in a terminal, `lab run`, another tab), so that the
 * sale appears without a click.
 */
export function useRunWatch(enabled: boolean, onNewest: (run: RunDocument) => void): void {
  const latest = useRef(onNewest);
  latest.current = onNewest;

  useEffect(() => {
    if (!enabled) return;
    let stopped = false;
    const poll = async () => {
      if (document.visibilityState !== "visible") return;
      const result = await callApi<{ runs: RunDocument[] }>("/api/runs?limit=1");
      const newest = result.ok ? result.value.runs[0] : undefined;
      if (!stopped && newest !== undefined) latest.current(newest);
    };
    const timer = setInterval(() => void poll(), POLL_INTERVAL_MS);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }, [enabled]);
}
