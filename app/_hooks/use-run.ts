"use client";

import { useCallback, useEffect, useReducer, useState } from "react";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { type ApiProblem, callApi } from "../_lib/api";
import { runRequestOf, type SaleConfig } from "../_lib/run-config";
import { followRun } from "../_lib/run-stream";
import { IDLE_VIEW, type RunAction, type RunView, reduceRun } from "../_lib/run-view";

export interface Run {
  readonly view: RunView;
  /** Opens a run; resolves to the API's error, or null. */
  readonly start: (config: SaleConfig) => Promise<ApiProblem | null>;
  /** Follows a run that was opened elsewhere. */
  readonly attach: (document: RunDocument) => void;
  /** Shows the run that is being opened elsewhere; null if there is none. */
  readonly prepare: (document: RunDocument | null) => void;
  /** Clears a finished run from the page. */
  readonly reset: () => void;
  /** Reconnects after the page stopped retrying the event stream. */
  readonly reconnect: () => void;
}

/** The run that was active, or was being opened, when the page loaded. */
export interface KnownRun {
  readonly active: RunDocument | null;
  /** Samples of the active run, as far as they came with the page. */
  readonly samples?: readonly RunSample[];
  readonly preparing?: RunDocument | null;
}

function viewOf({ active, samples = [], preparing = null }: KnownRun): RunView {
  const known: RunAction =
    active === null ? { type: "preparing", document: preparing } : { type: "attach", document: active, samples };
  return reduceRun(IDLE_VIEW, known);
}

export function useRun(known: KnownRun): Run {
  const [view, dispatch] = useReducer(reduceRun, known, viewOf);
  const [connection, setConnection] = useState(0);
  const followed = view.phase === "running" && view.document !== null ? view.document.id : null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new connection number restarts the stream
  useEffect(() => {
    if (followed === null) return;
    return followRun(followed, dispatch);
  }, [followed, connection]);

  const attach = useCallback((document: RunDocument) => dispatch({ type: "attach", document }), []);
  const prepare = useCallback((document: RunDocument | null) => dispatch({ type: "preparing", document }), []);
  const reset = useCallback(() => dispatch({ type: "reset" }), []);
  const reconnect = useCallback(() => setConnection((number) => number + 1), []);

  const start = useCallback(async (config: SaleConfig) => {
    dispatch({ type: "open" });
    const result = await callApi<RunDocument>("/api/runs", { method: "POST", body: runRequestOf(config) });
    if (result.ok) {
      dispatch({ type: "attach", document: result.value });
      return null;
    }
    dispatch({ type: "reset" });
    return result.problem;
  }, []);

  return { view, start, attach, prepare, reset, reconnect };
}
