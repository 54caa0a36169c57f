"use client";

import { useEffect, useState } from "react";
import type { RunDocument } from "@/lib/runs/document";
import type { Evidence } from "@/lib/runs/evidence";
import { callApi } from "../_lib/api";
import { seriesOfHistory } from "../_lib/history-series";
import type { RunSeries } from "../_lib/run-series";

/** Time series from the history of an ended run. Null while the run is active, while loading, and if it has no history. */
export function useRecordedSeries({
  id,
  status,
  stock,
}: Pick<RunDocument, "id" | "status" | "stock">): RunSeries | null {
  const [known, setKnown] = useState<{ readonly id: string; readonly series: RunSeries } | null>(null);
  const isOver = status !== "running";
  useEffect(() => {
    if (!isOver) return;
    let stopped = false;
    const load = async () => {
      const path = `/api/runs/${encodeURIComponent(id)}/series`;
      const result = await callApi<Pick<Evidence, "series" | "faults">>(path);
      if (stopped || !result.ok || result.value.series === null) return;
      setKnown({ id, series: seriesOfHistory(result.value.series, result.value.faults, stock.orders) });
    };
    void load();
    return () => {
      stopped = true;
    };
  }, [id, isOver, stock.orders]);
  return isOver && known?.id === id ? known.series : null;
}
