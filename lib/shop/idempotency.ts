import { createHash, randomUUID } from "node:crypto";
import { processSingleton } from "../services/singleton";
import { ClaimRenewer } from "./claim-renewer";
import { claimKey, findChangedKeys, type HeldClaim, renewClaims, settleClaim } from "./idempotency-keys";
import { type KeyName, KeyWatcher } from "./key-watcher";
import { ShopError } from "./shop-error";

/**
 * Requests with the same buyer, route and `Idempotency-Key` get one answer, even while the first of them is still running.
 *
 * The request that does the work holds a claim on the key. The claim expires unless it is renewed: if its node crashes, the
 * next request with the key takes over, and first looks for an order that the crashed one may have created. If both
 * reach the order, its unique index on the key admits one.
 */

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** `final`: repeat it. `retryable`: nothing was written, so the next request may try again. `unknown`: look for an order first. */
export type AnswerKind = "final" | "retryable" | "unknown";

export interface KeyedRequest {
  readonly userId: string;
  /** For example `products/42/reduce-stock`. */
  readonly route: string;
  readonly key: string;
  /** A request with the same key and other content is rejected. */
  readonly content: unknown;
  /** How long to wait for an earlier request with the key that is still running. */
  readonly waitMs: number;
}

export interface KeyedWork {
  /** Serves the request; an error response is an answer too. */
  work(): Promise<Answer>;
  /** The answer for an order that an earlier request with the key created; null if there is none. */
  findEarlierAnswer(): Promise<Answer | null>;
  kindOf(answer: Answer): AnswerKind;
}

interface RunningRequest {
  readonly contentHash: string;
  readonly answer: Promise<Answer>;
}

export const REPLAYED_HEADER = "idempotent-replayed";

/**
 * @throws {ShopError} `idempotency_mismatch` if the key was used with other content, `idempotency_in_progress`
 * @throws {LockError} `backend_unavailable`
 */
export async function answerOnce(request: KeyedRequest, keyed: KeyedWork): Promise<Answer> {
  const contentHash = createHash("sha256").update(JSON.stringify(request.content)).digest("base64url");
  const running = runningRequests();
  const id = JSON.stringify(nameOf(request));
  const earlier = running.get(id);
  if (earlier) {
    if (earlier.contentHash !== contentHash) throw mismatch();
    return asReplay(await earlier.answer);
  }
  const answer = claimAndAnswer(request, contentHash, keyed);
  running.set(id, { contentHash, answer });
  try {
    return await answer;
  } finally {
    running.delete(id);
  }
}

async function claimAndAnswer(request: KeyedRequest, contentHash: string, keyed: KeyedWork): Promise<Answer> {
  const name = nameOf(request);
  const deadlineMs = performance.now() + request.waitMs;
  for (;;) {
    const claimId = randomUUID();
    const claim = await claimKey(name, contentHash, claimId);
    if (claim.state === "mismatch") throw mismatch();
    if (claim.state === "answered") return asReplay(claim.answer);
    if (claim.state === "claimed") {
      const answer = await workUnderClaim({ name, claimId }, claim.isTakenOver, keyed);
      if (answer) return answer;
    }
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) throw inProgress();
    await keyWatcher().changed(name, leftMs);
  }
}

/** @returns null if another request took the claim over meanwhile and its answer counts */
async function workUnderClaim(claim: HeldClaim, isTakenOver: boolean, keyed: KeyedWork): Promise<Answer | null> {
  const renewer = claimRenewer();
  renewer.add(claim);
  try {
    const answer = (isTakenOver ? await keyed.findEarlierAnswer() : null) ?? (await keyed.work());
    return (await settleClaim(claim, { answer, kind: keyed.kindOf(answer) })) ? answer : null;
  } catch (error) {
    await settleClaim(claim, { answer: null, kind: "unknown" });
    throw error;
  } finally {
    renewer.remove(claim);
  }
}

/** Requests on this node that wait for the same key's answer need no statement. */
function runningRequests(): Map<string, RunningRequest> {
  return processSingleton("idempotency-running", () => new Map<string, RunningRequest>());
}

function keyWatcher(): KeyWatcher {
  return processSingleton("idempotency-watcher", () => new KeyWatcher(findChangedKeys));
}

function claimRenewer(): ClaimRenewer {
  return processSingleton("idempotency-claims", () => new ClaimRenewer(renewClaims));
}

function nameOf({ userId, route, key }: KeyedRequest): KeyName {
  return [userId, route, key];
}

function asReplay(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, [REPLAYED_HEADER]: "true" } };
}

function mismatch(): ShopError {
  const message = "Idempotency-Key: an earlier request used this key with another body. Send a new key.";
  return new ShopError({ code: "idempotency_mismatch", message, details: { field: "idempotency-key" } });
}

function inProgress(): ShopError {
  const message = "Idempotency-Key: the first request with this key is still running. Retry with the same key.";
  const details = { field: "idempotency-key" };
  return new ShopError({ code: "idempotency_in_progress", message, details, retryAfterSeconds: 1 });
}
