"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { type Polled, usePolled } from "@/app/_hooks/shop/use-polled";
import { callShop, deviceEpochMs, observeCalls } from "@/app/_lib/shop/call-shop";
import { type ClockBounds, narrowed, offsetMs } from "@/app/_lib/shop/clock";
import type { ShopClaim, ShopOrder } from "@/lib/shop/api";

const POLL_INTERVAL_MS = 5_000;

interface MyPurchases {
  readonly orders: readonly ShopOrder[];
  readonly claims: readonly ShopClaim[];
}

interface Shop {
  /** Null until the shop has identified this browser. */
  readonly buyerId: string | null;
  /** The visitor's orders and coupons; null until loaded. */
  readonly myPurchases: Polled<MyPurchases | null>;
  readonly isReachable: boolean;
  /** When the shop stopped answering; null while it answers. */
  readonly lostAtEpochMs: number | null;
  /** Current time of the lab's clock. */
  readonly nowEpochMs: () => number;
  /** Requests the buyer id, which the shop creates if needed; null if the shop does not answer. */
  readonly identify: () => Promise<string | null>;
}

const ShopContext = createContext<Shop | null>(null);

export function useShop(): Shop {
  const shop = useContext(ShopContext);
  if (shop === null) throw new Error("useShop needs a ShopProvider above it");
  return shop;
}

/** State shared by the shop's pages: buyer id, their orders and coupons, the lab's clock, and whether the shop answers. */
export function ShopProvider({ children }: { children: ReactNode }) {
  const [buyerId, setBuyerId] = useState<string | null>(null);
  const [lostAtEpochMs, setLostAt] = useState<number | null>(null);
  const bounds = useRef<ClockBounds | null>(null);
  const nowEpochMs = useCallback(() => deviceEpochMs() + offsetMs(bounds.current), []);

  useEffect(
    () =>
      observeCalls({
        onTime: (sample) => {
          bounds.current = narrowed(bounds.current, sample);
        },
        onReachable: (answered) => setLostAt((before) => (answered ? null : (before ?? Date.now()))),
      }),
    [],
  );

  useEffect(() => {
    const lose = () => setLostAt((before) => before ?? Date.now());
    window.addEventListener("offline", lose);
    return () => window.removeEventListener("offline", lose);
  }, []);

  // The shop rejects this request without the cookie that comes with the buyer id.
  const path = buyerId === null ? null : "/api/orders";
  const myPurchases = usePolled<MyPurchases | null>({ path, everyMs: POLL_INTERVAL_MS, initial: null });
  const identify = useCallback(async () => {
    const answer = await callShop({ path: "/api/buyer" });
    const known = (answer.body as { buyerId?: unknown } | null)?.buyerId;
    if (answer.status !== 200 || typeof known !== "string") return null;
    setBuyerId(known);
    return known;
  }, []);

  // Repeats when the shop answers again, because the first attempt may have failed.
  const isUnknown = buyerId === null && lostAtEpochMs === null;
  useEffect(() => {
    if (isUnknown) void identify();
  }, [isUnknown, identify]);

  const shop = useMemo(
    () => ({ buyerId, myPurchases, isReachable: lostAtEpochMs === null, lostAtEpochMs, nowEpochMs, identify }),
    [buyerId, myPurchases, lostAtEpochMs, nowEpochMs, identify],
  );
  return <ShopContext value={shop}>{children}</ShopContext>;
}
