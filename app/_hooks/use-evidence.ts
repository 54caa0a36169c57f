"use client";

import { useEffect, useState } from "react";
import { callApi, problemSentence } from "../_lib/api";
import type { InitialEvidence } from "../_lib/initial-evidence";

export type EvidenceState =
  | { readonly phase: "loading" }
  | { readonly phase: "ready"; readonly runId: string; readonly opening: InitialEvidence }
  | { readonly phase: "failed"; readonly message: string };

/** Debounce: stepping through the strategies with a held key must not load every history. */
const LOAD_DELAY_MS = 200;

/** Loads the evidence of an ended run; a null id loads nothing. `retry` repeats a failed request. */
export function useEvidence(runId: string | null): { readonly state: EvidenceState; readonly retry: () => void } {
  const [state, setState] = useState<EvidenceState>({ phase: "loading" });
  const [attempt, setAttempt] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new attempt number repeats the request
  useEffect(() => {
    if (runId === null) return;
    let stopped = false;
    const load = async () => {
      const result = await callApi<InitialEvidence>(`/api/runs/${encodeURIComponent(runId)}/evidence`);
      if (stopped) return;
      if (result.ok) setState({ phase: "ready", runId, opening: result.value });
      else setState({ phase: "failed", message: problemSentence(result.problem) });
    };
    setState({ phase: "loading" });
    const timer = setTimeout(() => void load(), LOAD_DELAY_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [runId, attempt]);

  return { state, retry: () => setAttempt((number) => number + 1) };
}
