"use client";

import { useEffect, useState } from "react";
import { useShop } from "../../_components/shop/shop-provider";

/**
 * Current time of the lab's clock.
 * @param initialEpochMs server render time, so that the first client render matches
 * @param everyMs update interval; null: update once
 */
export function useLabNow(initialEpochMs: number, everyMs: number | null): number {
  const { nowEpochMs } = useShop();
  const [now, setNow] = useState(initialEpochMs);
  useEffect(() => {
    setNow(nowEpochMs());
    if (everyMs === null) return;
    const timer = setInterval(() => setNow(nowEpochMs()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs, nowEpochMs]);
  return now;
}
