"use client";

import type { useStopRun } from "@/app/_hooks/use-stop-run";
import button from "../ui/button.module.css";

interface StopButtonProps {
  readonly runId: string;
  readonly stopping: ReturnType<typeof useStopRun>;
}

/** Ends the active run: its buyers stop, and the lab checks what was recorded until then. */
export function StopButton({ runId, stopping }: StopButtonProps) {
  const isStopping = stopping.stoppingId === runId;
  return (
    <button type="button" className={button.plain} disabled={isStopping} onClick={() => stopping.stop(runId)}>
      {isStopping ? "Stopping …" : "Stop"}
    </button>
  );
}
