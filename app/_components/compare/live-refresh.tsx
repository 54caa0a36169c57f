"use client";

import { useRouter } from "next/navigation";
import { useEffect, useRef } from "react";

/** Reloads the server-rendered page at an interval while a sweep is active. */
export function LiveRefresh({ everyMs, stamp }: { everyMs: number; stamp: string }) {
  const router = useRouter();
  const unchangedIntervals = useRef(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new stamp shows that the last refresh arrived
  useEffect(() => {
    unchangedIntervals.current = 0;
    const timer = setInterval(() => {
      // Polls less often after 60 intervals without a change, because the sweep may be interrupted.
      unchangedIntervals.current += 1;
      if (unchangedIntervals.current < 60 || unchangedIntervals.current % 10 === 0) router.refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [router, everyMs, stamp]);

  return null;
}
