"use client";

import { useEffect, useRef, useState } from "react";
import type { ExplainedFinding } from "@/lib/runs/evidence";
import { callApi, problemSentence } from "../_lib/api";

export interface Explained {
  readonly explained: ExplainedFinding | null;
  readonly problem: string | null;
}

/** The lines of a finding; the one the page came with is there at once, and none is fetched twice. */
export function useExplained(runId: string, name: string | null, first: ExplainedFinding | null): Explained {
  const known = useRef(new Map<string, ExplainedFinding>(first ? [[first.finding.name, first]] : []));
  const [state, setState] = useState<Explained>({ explained: first, problem: null });

  useEffect(() => {
    if (name === null) return;
    const kept = known.current.get(name);
    if (kept) {
      setState({ explained: kept, problem: null });
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
      known.current.set(name, result.value);
      setState({ explained: result.value, problem: null });
    };
    void load();
    return () => {
      stopped = true;
    };
  }, [runId, name]);
  return state;
}
