import { classOf, pauseBefore, type ShopAnswer } from "./answer";

/**
 * A request with one Idempotency-Key from the click to a definite response. It is retried after a temporary rejection and
 * after an unknown outcome.
 */
export interface IdempotentRequest {
  readonly key: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export type RequestState =
  | { readonly phase: "idle" }
  /** @property last the response that caused this attempt; null for the first attempt */
  | { readonly phase: "sending"; readonly tries: number; readonly last: ShopAnswer | null }
  | { readonly phase: "waiting"; readonly tries: number; readonly last: ShopAnswer; readonly untilEpochMs: number }
  /** Automatic retries ended: the buyer can retry with the same key or stop. */
  | { readonly phase: "given_up"; readonly tries: number; readonly last: ShopAnswer }
  | { readonly phase: "settled"; readonly last: ShopAnswer };

export interface RequestPorts {
  readonly send: (request: IdempotentRequest) => Promise<ShopAnswer>;
  /** May end early, for example when the network is back. */
  readonly pause: (ms: number) => Promise<void>;
  /** Requests a buyer id from the shop. */
  readonly identify: () => Promise<unknown>;
  readonly show: (requestState: RequestState) => void;
  readonly nowEpochMs: () => number;
  readonly signal: AbortSignal;
}

/** Sends the request with retries. Resolves on a definite response, at the retry limit, or on abort. */
export async function sendWithRetries(request: IdempotentRequest, ports: RequestPorts): Promise<void> {
  const { send, pause, identify, show, nowEpochMs, signal } = ports;
  let last: ShopAnswer | null = null;
  for (let tries = 1; !signal.aborted; tries += 1) {
    show({ phase: "sending", tries, last });
    const answer = await send(request);
    if (signal.aborted) return;
    // An attempt that sent nothing does not resolve the unknown outcome of an earlier one.
    const isStillOpen = answer.code === "offline" && last !== null && classOf(last) === "unknown";
    if (!isStillOpen) last = answer;
    const pauseMs = pauseBefore(answer, tries);
    if (pauseMs === null) {
      const isDefinite = classOf(answer) === "completed" || classOf(answer) === "rejected";
      show(isDefinite ? { phase: "settled", last: answer } : { phase: "given_up", tries, last: answer });
      return;
    }
    if (classOf(answer) === "unidentified") await identify();
    else {
      show({ phase: "waiting", tries, last: last ?? answer, untilEpochMs: nowEpochMs() + pauseMs });
      await pause(pauseMs);
    }
  }
}

/** Whether the request is being sent or waits for a retry. */
export function isInProgress({ phase }: RequestState): boolean {
  return phase === "sending" || phase === "waiting";
}

/** A new Idempotency-Key. Not `randomUUID`, which needs a secure context that plain HTTP to a LAN address lacks. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
