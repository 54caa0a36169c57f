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
  /** Starts a new request; does nothing while one is in progress, so repeated clicks send one request. */
  readonly submit: (path: string, body: Readonly<Record<string, unknown>>) => void;
  /** Retries the last request with the same key. */
  readonly retry: () => void;
  /** Stops retrying; a request that was sent may still succeed. */
  readonly stop: () => void;
}

interface RequestOptions {
  /** Storage name under which the request survives a reload. */
  readonly name: string;
  /** Whether the body contains the buyer id. */
  readonly namesBuyer: boolean;
  readonly onSettled: (answer: ShopAnswer) => void;
}

/** Sends one request per click with one Idempotency-Key until a definite response, also after a reload. */
export function useIdempotentRequest({ name, namesBuyer, onSettled }: RequestOptions): RequestControl {
  const { buyerId, identify, nowEpochMs } = useShop();
  const [requestState, setRequestState] = useState<RequestState>({ phase: "idle" });
  const knownBuyerId = useRef(buyerId);
  const lastRequest = useRef<IdempotentRequest | null>(null);
  const controllerRef = useRef<AbortController | null>(null);
  const settled = useRef(onSettled);
  knownBuyerId.current = buyerId ?? knownBuyerId.current;
  settled.current = onSettled;

  const start = useCallback(
    (request: IdempotentRequest) => {
      const controller = new AbortController();
      controllerRef.current = controller;
      lastRequest.current = request;
      savePending(name, request);
      void sendWithRetries(request, {
        send: async ({ key, path, body }) => {
          if (!navigator.onLine) return NOT_SENT;
          if (namesBuyer) knownBuyerId.current ??= await identify();
          if (namesBuyer && knownBuyerId.current === null) return NOT_SENT;
          const fullBody = namesBuyer ? { ...body, userId: knownBuyerId.current } : body;
          return callShop({ path, method: "POST", body: fullBody, idempotencyKey: key });
        },
        pause: (ms) => pauseUntilOnline(ms, controller.signal),
        identify: async () => {
          knownBuyerId.current = await identify();
        },
        show: (now) => {
          setRequestState(now);
          if (!isInProgress(now)) controllerRef.current = null;
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
    const pending = loadPending(name);
    if (pending !== null) start(pending);
    return () => {
      controllerRef.current?.abort();
      controllerRef.current = null;
    };
  }, [name, start]);

  const submit = useCallback(
    (path: string, body: Readonly<Record<string, unknown>>) => {
      if (controllerRef.current === null) start({ key: newIdempotencyKey(), path, body });
    },
    [start],
  );
  const retry = useCallback(() => {
    if (controllerRef.current === null && lastRequest.current !== null) start(lastRequest.current);
  }, [start]);
  const stop = useCallback(() => {
    controllerRef.current?.abort();
    controllerRef.current = null;
    clearPending(name);
    setRequestState({ phase: "idle" });
  }, [name]);
  return { requestState, submit, retry, stop };
}

/** Resolves after `ms`, or earlier when the network is back or the signal aborts. */
function pauseUntilOnline(ms: number, signal: AbortSignal): Promise<void> {
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
