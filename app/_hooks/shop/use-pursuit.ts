"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { useShop } from "../../_components/shop/shop-provider";
import { NOTHING_SENT, type ShopAnswer } from "../../_lib/shop/answer";
import { callShop } from "../../_lib/shop/call-shop";
import { type Intention, isUnderWay, newKey, type Pursuit, pursue } from "../../_lib/shop/pursue";
import { forget, recall, remember } from "../../_lib/shop/remembered";

export interface Pursuing {
  readonly pursuit: Pursuit;
  /** Wants something new; while something is wanted already it does nothing, however often it is clicked. */
  readonly want: (path: string, body: Readonly<Record<string, unknown>>) => void;
  /** Asks again for what was given up, with the same key. */
  readonly askAgain: () => void;
  /** Stops asking; what was sent may still happen. */
  readonly letBe: () => void;
}

interface PursuitOptions {
  /** Under which what is wanted outlives a reload of the page. */
  readonly name: string;
  /** Whether the request names the buyer. */
  readonly namesBuyer: boolean;
  readonly onSettled: (answer: ShopAnswer) => void;
}

/** One click, one intention, one Idempotency-Key, until there is a definite answer; also over a reload. */
export function usePursuit({ name, namesBuyer, onSettled }: PursuitOptions): Pursuing {
  const { buyerId, becomeKnown, nowEpochMs } = useShop();
  const [pursuit, setPursuit] = useState<Pursuit>({ phase: "idle" });
  const known = useRef(buyerId);
  const wanted = useRef<Intention | null>(null);
  const run = useRef<AbortController | null>(null);
  const settled = useRef(onSettled);
  known.current = buyerId ?? known.current;
  settled.current = onSettled;

  const follow = useCallback(
    (intention: Intention) => {
      const controller = new AbortController();
      run.current = controller;
      wanted.current = intention;
      remember(name, intention);
      void pursue(intention, {
        send: async ({ key, path, body }) => {
          if (!navigator.onLine) return NOTHING_SENT;
          if (namesBuyer) known.current ??= await becomeKnown();
          if (namesBuyer && known.current === null) return NOTHING_SENT;
          const whole = namesBuyer ? { ...body, userId: known.current } : body;
          return callShop({ path, method: "POST", body: whole, idempotencyKey: key });
        },
        pause: (ms) => pauseOrNews(ms, controller.signal),
        becomeKnown: async () => {
          known.current = await becomeKnown();
        },
        show: (now) => {
          setPursuit(now);
          if (!isUnderWay(now)) run.current = null;
          if (now.phase !== "settled") return;
          forget(name);
          settled.current(now.last);
        },
        nowEpochMs,
        signal: controller.signal,
      });
    },
    [name, namesBuyer, becomeKnown, nowEpochMs],
  );

  useEffect(() => {
    const unfinished = recall(name);
    if (unfinished !== null) follow(unfinished);
    return () => {
      run.current?.abort();
      run.current = null;
    };
  }, [name, follow]);

  const want = useCallback(
    (path: string, body: Readonly<Record<string, unknown>>) => {
      if (run.current === null) follow({ key: newKey(), path, body });
    },
    [follow],
  );
  const askAgain = useCallback(() => {
    if (run.current === null && wanted.current !== null) follow(wanted.current);
  }, [follow]);
  const letBe = useCallback(() => {
    run.current?.abort();
    run.current = null;
    forget(name);
    setPursuit({ phase: "idle" });
  }, [name]);
  return { pursuit, want, askAgain, letBe };
}

/** Waits, and no longer than until the network is back. */
function pauseOrNews(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    window.addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}
