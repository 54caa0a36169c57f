"use client";

import { useEffect, useState } from "react";
import type { Timeline } from "@/lib/history/timeline";
import { callApi, problemSentence } from "../_lib/api";
import { type Spans, toSpans } from "../_lib/timeline-view";

export type TimelineState =
  | { readonly phase: "loading" }
  | { readonly phase: "ready"; readonly spans: Spans }
  | { readonly phase: "failed"; readonly message: string };

/** The run's spans, fetched once: zoom and pan need no request. */
export function useTimeline(runId: string): TimelineState {
  const [state, setState] = useState<TimelineState>({ phase: "loading" });
  useEffect(() => {
    let stopped = false;
    const load = async () => {
      const result = await callApi<Timeline>(`/api/runs/${runId}/timeline`);
      if (stopped) return;
      if (result.ok) setState({ phase: "ready", spans: toSpans(result.value.spans) });
      else setState({ phase: "failed", message: problemSentence(result.problem) });
    };
    void load();
    return () => {
      stopped = true;
    };
  }, [runId]);
  return state;
}
