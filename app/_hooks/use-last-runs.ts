"use client";

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { callApi } from "../_lib/api";

const NO_SAMPLES: readonly RunSample[] = [];

export interface InitialRuns {
  /** The last finished run of every strategy. */
  readonly latest: readonly RunDocument[];
  /** Id of the run whose samples came with the page. */
  readonly samplesOf: string | null;
  readonly samples: readonly RunSample[];
}

/** The last finished run of each strategy; loads the samples of the shown run. */
export function useLastRuns(initial: InitialRuns, strategy: string) {
  const [latest, setLatest] = useState(() => new Map(initial.latest.map((run) => [run.strategy, run])));
  const [samples, setSamples] = useState(() => {
    const known = new Map<string, readonly RunSample[]>();
    if (initial.samplesOf !== null) known.set(initial.samplesOf, initial.samples);
    return known;
  });
  const requested = useRef(new Set<string>());
  const run = latest.get(strategy) ?? null;

  useEffect(() => {
    if (run === null || samples.has(run.id) || requested.current.has(run.id)) return;
    requested.current.add(run.id);
    void callApi<{ samples: RunSample[] }>(`/api/runs/${encodeURIComponent(run.id)}/samples`).then((result) => {
      if (result.ok) setSamples((known) => new Map(known).set(run.id, result.value.samples));
      else requested.current.delete(run.id);
    });
  }, [run, samples]);

  const put = useCallback((document: RunDocument, runSamples: readonly RunSample[]) => {
    setLatest((known) => new Map(known).set(document.strategy, document));
    setSamples((known) => new Map(known).set(document.id, runSamples));
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
