"use client";

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunDocument, RunSample } from "@/lib/runs/document";
import { callApi } from "../_lib/api";

const NO_SAMPLES: readonly RunSample[] = [];

export interface InitialRuns {
  /** The last finished run of every strategy. */
  readonly latest: readonly RunDocument[];
  /** Samples of one of them, read with the page. */
  readonly samplesOf: string | null;
  readonly samples: readonly RunSample[];
}

/** The last finished run of each strategy, with its samples as soon as it is looked at. */
export function useLastRuns(initial: InitialRuns, strategy: string) {
  const [latest, setLatest] = useState(() => new Map(initial.latest.map((run) => [run.strategy, run])));
  const [samples, setSamples] = useState(() => {
    const known = new Map<string, readonly RunSample[]>();
    if (initial.samplesOf !== null) known.set(initial.samplesOf, initial.samples);
    return known;
  });
  const asked = useRef(new Set<string>());
  const run = latest.get(strategy) ?? null;

  useEffect(() => {
    if (run === null || samples.has(run.id) || asked.current.has(run.id)) return;
    asked.current.add(run.id);
    void callApi<{ samples: RunSample[] }>(`/api/runs/${encodeURIComponent(run.id)}/samples`).then((result) => {
      if (result.ok) setSamples((known) => new Map(known).set(run.id, result.value.samples));
      else asked.current.delete(run.id);
    });
  }, [run, samples]);

  const put = useCallback((document: RunDocument, itsSamples: readonly RunSample[]) => {
    setLatest((known) => new Map(known).set(document.strategy, document));
    setSamples((known) => new Map(known).set(document.id, itsSamples));
  }, []);

  return useMemo(
    () => ({
      run,
      samples: run === null ? NO_SAMPLES : (samples.get(run.id) ?? NO_SAMPLES),
      isEmpty: latest.size === 0,
      has: (id: string) => [...latest.values()].some((one) => one.id === id),
      put,
    }),
    [run, samples, latest, put],
  );
}
