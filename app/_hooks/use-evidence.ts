"use client";

import { useEffect, useState } from "react";
import { callApi, problemSentence } from "../_lib/api";
import type { InitialEvidence } from "../_lib/initial-evidence";

export type EvidenceState =
  | { readonly phase: "loading" }
  | { readonly phase: "ready"; readonly runId: string; readonly opening: InitialEvidence }
  | { readonly phase: "failed"; readonly message: string };

/** Whoever steps through the strategies with a key held down has none of their histories read. */
const ASK_AFTER_MS = 200;

/** An ended run's evidence; null asks for none. `again` asks once more. */
export function useEvidence(runId: string | null): { readonly state: EvidenceState; readonly again: () => void } {
  const [state, setState] = useState<EvidenceState>({ phase: "loading" });
  const [attempt, setAttempt] = useState(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt means: ask anew
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
    const timer = setTimeout(() => void load(), ASK_AFTER_MS);
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }, [runId, attempt]);

  return { state, again: () => setAttempt((number) => number + 1) };
}
