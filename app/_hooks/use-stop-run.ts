"use client";

import { useState } from "react";
import type { RunDocument } from "@/lib/runs/document";
import { type ApiProblem, callApi } from "../_lib/api";

/** Stops the active run. The page learns the end from the run's event stream, like every other page. */
export function useStopRun() {
  const [stoppingId, setStoppingId] = useState<string | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [unauthorisedId, setUnauthorisedId] = useState<string | null>(null);

  const stop = async (id: string) => {
    setProblem(null);
    setStoppingId(id);
    const result = await callApi<RunDocument>(`/api/runs/${encodeURIComponent(id)}/stop`, { method: "POST" });
    // A stop that takes long goes on: purchases in flight are awaited.
    if (result.ok || result.problem.code === "no_answer") return;
    setStoppingId(null);
    if (result.problem.code === "admin_token_required") setUnauthorisedId(id);
    else setProblem(result.problem);
  };

  return {
    stop: (id: string) => void stop(id),
    stoppingId,
    problem,
    /** Props of the dialog that prompts for the admin token. */
    token: {
      open: unauthorisedId !== null,
      onClose: () => setUnauthorisedId(null),
      onAccepted: () => {
        setUnauthorisedId(null);
        if (unauthorisedId !== null) void stop(unauthorisedId);
      },
    },
  };
}
