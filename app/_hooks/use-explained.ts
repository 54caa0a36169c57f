"use client";

import { useEffect, useRef, useState } from "react";
import type { ExplainedFinding } from "@/lib/runs/evidence";
import { callApi, problemSentence } from "../_lib/api";

export interface Explained {
  readonly explained: ExplainedFinding | null;
  readonly problem: string | null;
}

/** The interleaving of a finding. The first one comes with the page; others are fetched once and cached. */
export function useExplained(runId: string, name: string | null, first: ExplainedFinding | null): Explained {
  const cache = useRef(new Map<string, ExplainedFinding>(first ? [[first.finding.name, first]] : []));
  const [state, setState] = useState<Explained>({ explained: first, problem: null });

  useEffect(() => {
    if (name === null) return;
    const cached = cache.current.get(name);
    if (cached) {
      setState({ explained: cached, problem: null });
      return;
    }
    let stopped = false;
    const load = async () => {
      const result = await callApi<ExplainedFinding>(`/api/runs/${runId}/findings/${name}`);
      if (stopped) return;
      if (!result.ok) {
        setState({ explained: null, problem: problemSentence(result.problem) });
        return;
      }
      cache.current.set(name, result.value);
      setState({ explained: result.value, problem: null });
    };
    void load();
    return () => {
      stopped = true;
    };
  }, [runId, name]);
  return state;
}
