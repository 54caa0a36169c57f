"use client";

import { useRouter } from "next/navigation";
import { useEffect, useRef } from "react";

/** Has the server draw the page anew, as long as something is still going on; never two at a time. */
export function LiveRefresh({ everyMs, stamp }: { everyMs: number; stamp: string }) {
  const router = useRouter();
  const quietSince = useRef(0);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new stamp is the answer to the last request
  useEffect(() => {
    quietSince.current = 0;
    const timer = setInterval(() => {
      // What has not changed for long is asked for less often: an interrupted sweep stays as it is.
      quietSince.current += 1;
      if (quietSince.current < 60 || quietSince.current % 10 === 0) router.refresh();
    }, everyMs);
    return () => clearInterval(timer);
  }, [router, everyMs, stamp]);

  return null;
}
