import { classOf, pauseBefore, type ShopAnswer } from "./answer";

/**
 * What a buyer wants once, whatever it takes: one Idempotency-Key from the click to a definite answer. Requests are repeated
 * where nothing was taken and it may still go, and where nobody knows whether it went.
 */
export interface IdempotentRequest {
  readonly key: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export type RequestState =
  | { readonly phase: "idle" }
  /** @property last the answer that led to this try; null for the first */
  | { readonly phase: "sending"; readonly tries: number; readonly last: ShopAnswer | null }
  | { readonly phase: "waiting"; readonly tries: number; readonly last: ShopAnswer; readonly untilEpochMs: number }
  /** Left to the buyer: ask again, with the same key, or let it be. */
  | { readonly phase: "given_up"; readonly tries: number; readonly last: ShopAnswer }
  | { readonly phase: "settled"; readonly last: ShopAnswer };

export interface RequestPorts {
  readonly send: (request: IdempotentRequest) => Promise<ShopAnswer>;
  /** Ends early where there is news, such as a network that is back. */
  readonly pause: (ms: number) => Promise<void>;
  /** Gets an id that the shop knows. */
  readonly identify: () => Promise<unknown>;
  readonly show: (requestState: RequestState) => void;
  readonly nowEpochMs: () => number;
  readonly signal: AbortSignal;
}

/** Resolves once there is a definite answer, or nobody wants to try any longer. */
export async function sendWithRetries(request: IdempotentRequest, ports: RequestPorts): Promise<void> {
  const { send, pause, identify, show, nowEpochMs, signal } = ports;
  let last: ShopAnswer | null = null;
  for (let tries = 1; !signal.aborted; tries += 1) {
    show({ phase: "sending", tries, last });
    const answer = await send(request);
    if (signal.aborted) return;
    // That nothing was sent this time says nothing of the time before.
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

/** Whether the buyer's click has no definite answer yet. */
export function isInProgress({ phase }: RequestState): boolean {
  return phase === "sending" || phase === "waiting";
}

/** A fresh Idempotency-Key. Not `randomUUID`: a phone that reaches the lab by its address has no secure context for it. */
export function newIdempotencyKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
