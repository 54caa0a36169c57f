"use client";

import { useEffect, useRef } from "react";
import type { RunDocument } from "@/lib/runs/document";
import { callApi } from "../_lib/api";

const LOOK_EVERY_MS = 2_000;

/**
 * While the page has no run of its own to follow, looks for runs opened elsewhere (k6 from a terminal, `lab run`,
 * another tab), so that the sale is on the screen without a click.
 */
export function useRunWatch(enabled: boolean, onNewest: (run: RunDocument) => void): void {
  const latest = useRef(onNewest);
  latest.current = onNewest;

  useEffect(() => {
    if (!enabled) return;
    let stopped = false;
    const look = async () => {
      if (document.visibilityState !== "visible") return;
      const result = await callApi<{ runs: RunDocument[] }>("/api/runs?limit=1");
      const newest = result.ok ? result.value.runs[0] : undefined;
      if (!stopped && newest !== undefined) latest.current(newest);
    };
    const timer = setInterval(() => void look(), LOOK_EVERY_MS);
    return () => {
      stopped = true;
      clearInterval(timer);
    };
  }, [enabled]);
}
