"use client";

import { useEffect, useState } from "react";
import { useShop } from "../../_components/shop/shop-provider";

/**
 * The lab's clock as a page shows it.
 * @param initialEpochMs when the server put the page together, so that both render the same at first
 * @param everyMs how often it is looked at; null: once
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
