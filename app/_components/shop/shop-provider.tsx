"use client";

import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from "react";
import { type Polled, usePolled } from "@/app/_hooks/shop/use-polled";
import { callShop, deviceEpochMs, observeCalls } from "@/app/_lib/shop/call-shop";
import { type ClockBounds, narrowed, offsetMs } from "@/app/_lib/shop/clock";
import type { ShopClaim, ShopOrder } from "@/lib/shop/api";

const LOOK_EVERY_MS = 5_000;

interface Mine {
  readonly orders: readonly ShopOrder[];
  readonly claims: readonly ShopClaim[];
}

interface Shop {
  /** Null until the shop has said who this browser is. */
  readonly buyerId: string | null;
  /** The visitor's orders and coupons; null until they are known. */
  readonly mine: Polled<Mine | null>;
  readonly isReachable: boolean;
  /** Since when there has been no answer; null while there is. */
  readonly lostAtEpochMs: number | null;
  /** The lab's clock. */
  readonly nowEpochMs: () => number;
  /** Gets the id, or a fresh one, from the shop; null: it did not answer. */
  readonly identify: () => Promise<string | null>;
}

const ShopContext = createContext<Shop | null>(null);

export function useShop(): Shop {
  const shop = useContext(ShopContext);
  if (shop === null) throw new Error("useShop needs a ShopProvider above it");
  return shop;
}

/** What all pages of the shop share: who the visitor is, what is his, the lab's clock, and whether the shop answers. */
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
        onReach: (answered) => setLostAt((before) => (answered ? null : (before ?? Date.now()))),
      }),
    [],
  );

  useEffect(() => {
    const lose = () => setLostAt((before) => before ?? Date.now());
    window.addEventListener("offline", lose);
    return () => window.removeEventListener("offline", lose);
  }, []);

  // Without the cookie that comes with the id there would be nothing but refusals.
  const path = buyerId === null ? null : "/api/orders";
  const mine = usePolled<Mine | null>({ path, everyMs: LOOK_EVERY_MS, initial: null });
  const identify = useCallback(async () => {
    const answer = await callShop({ path: "/api/buyer" });
    const known = (answer.body as { buyerId?: unknown } | null)?.buyerId;
    if (answer.status !== 200 || typeof known !== "string") return null;
    setBuyerId(known);
    return known;
  }, []);

  // Once, and again when the shop is back: the first try may have been in vain.
  const isUnknown = buyerId === null && lostAtEpochMs === null;
  useEffect(() => {
    if (isUnknown) void identify();
  }, [isUnknown, identify]);

  const shop = useMemo(
    () => ({ buyerId, mine, isReachable: lostAtEpochMs === null, lostAtEpochMs, nowEpochMs, identify }),
    [buyerId, mine, lostAtEpochMs, nowEpochMs, identify],
  );
  return <ShopContext value={shop}>{children}</ShopContext>;
}
