"use client";

import { useCallback, useEffect, useRef, useState } from "react";
import { useShop } from "../../_components/shop/shop-provider";
import { NOT_SENT, type ShopAnswer } from "../../_lib/shop/answer";
import { callShop } from "../../_lib/shop/call-shop";
import {
  type IdempotentRequest,
  isInProgress,
  newIdempotencyKey,
  type RequestState,
  sendWithRetries,
} from "../../_lib/shop/idempotent-request";
import { clearPending, loadPending, savePending } from "../../_lib/shop/pending-requests";

export interface RequestControl {
  readonly requestState: RequestState;
  /** Wants something new; while something is wanted already it does nothing, however often it is clicked. */
  readonly want: (path: string, body: Readonly<Record<string, unknown>>) => void;
  /** Asks again for what was given up, with the same key. */
  readonly retry: () => void;
  /** Stops asking; what was sent may still happen. */
  readonly stop: () => void;
}

interface RequestOptions {
  /** Under which what is wanted outlives a reload of the page. */
  readonly name: string;
  /** Whether the request names the buyer. */
  readonly namesBuyer: boolean;
  readonly onSettled: (answer: ShopAnswer) => void;
}

/** One click, one request, one Idempotency-Key, until there is a definite answer; also over a reload. */
export function useIdempotentRequest({ name, namesBuyer, onSettled }: RequestOptions): RequestControl {
  const { buyerId, identify, nowEpochMs } = useShop();
  const [requestState, setPursuit] = useState<RequestState>({ phase: "idle" });
  const known = useRef(buyerId);
  const wanted = useRef<IdempotentRequest | null>(null);
  const run = useRef<AbortController | null>(null);
  const settled = useRef(onSettled);
  known.current = buyerId ?? known.current;
  settled.current = onSettled;

  const follow = useCallback(
    (request: IdempotentRequest) => {
      const controller = new AbortController();
      run.current = controller;
      wanted.current = request;
      savePending(name, request);
      void sendWithRetries(request, {
        send: async ({ key, path, body }) => {
          if (!navigator.onLine) return NOT_SENT;
          if (namesBuyer) known.current ??= await identify();
          if (namesBuyer && known.current === null) return NOT_SENT;
          const whole = namesBuyer ? { ...body, userId: known.current } : body;
          return callShop({ path, method: "POST", body: whole, idempotencyKey: key });
        },
        pause: (ms) => pauseOrNews(ms, controller.signal),
        identify: async () => {
          known.current = await identify();
        },
        show: (now) => {
          setPursuit(now);
          if (!isInProgress(now)) run.current = null;
          if (now.phase !== "settled") return;
          clearPending(name);
          settled.current(now.last);
        },
        nowEpochMs,
        signal: controller.signal,
      });
    },
    [name, namesBuyer, identify, nowEpochMs],
  );

  useEffect(() => {
    const unfinished = loadPending(name);
    if (unfinished !== null) follow(unfinished);
    return () => {
      run.current?.abort();
      run.current = null;
    };
  }, [name, follow]);

  const want = useCallback(
    (path: string, body: Readonly<Record<string, unknown>>) => {
      if (run.current === null) follow({ key: newIdempotencyKey(), path, body });
    },
    [follow],
  );
  const retry = useCallback(() => {
    if (run.current === null && wanted.current !== null) follow(wanted.current);
  }, [follow]);
  const stop = useCallback(() => {
    run.current?.abort();
    run.current = null;
    clearPending(name);
    setPursuit({ phase: "idle" });
  }, [name]);
  return { requestState, want, retry, stop };
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
