"use client";

import { useRouter } from "next/navigation";
import { useEffect, useMemo } from "react";
import type { RunDocument } from "@/lib/runs/document";
import type { RunSample } from "@/lib/runs/run-sample";
import { modelOf } from "../_lib/run-model";
import { useRun } from "./use-run";
import { useStopRun } from "./use-stop-run";

/** Follows a run that was active when the page loaded, and loads the page again when the run ends. */
export function useLiveRun(opened: RunDocument, known: readonly RunSample[]) {
  const router = useRouter();
  const { view, reconnect } = useRun({ active: opened, samples: known });
  const stopping = useStopRun();
  const document = view.document ?? opened;
  const { samples } = view;
  const model = useMemo(() => modelOf(document, samples), [document, samples]);
  const hasEnded = view.phase === "finished";

  useEffect(() => {
    if (hasEnded) router.refresh();
  }, [hasEnded, router]);

  return { view, document, samples, model, hasEnded, stopping, reconnect };
}
