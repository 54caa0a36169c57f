import { createHash, randomUUID } from "node:crypto";
import { LockError } from "../locks/errors";
import { log } from "../services/log";
import { postgresPool } from "../services/postgres";
import { processSingleton } from "../services/singleton";
import { KeyWatcher } from "./key-watcher";
import { ShopError } from "./shop-error";

/**
 * The same request twice is one request. Its first answer is kept under buyer, route and `Idempotency-Key`, and given again to
 * whoever asks again, also while the first is still being worked on.
 *
 * Who works on it holds a claim that runs out unless it is renewed: after a crash the next one with the key takes over, and
 * first looks for what the crashed one may have written. Whatever a claim does, the order's own unique index lets one
 * order through a key, so that a process that wakes up late sells nothing either.
 */

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface KeyedRequest {
  readonly userId: string;
  /** For example products/42/reduce-stock */
  readonly route: string;
  readonly key: string;
  /** All that makes another request another request. */
  readonly asked: unknown;
  /** How long to wait for a first request that is still running. */
  readonly waitMs: number;
}

export interface KeyedWork {
  /** Answers the request; failures are answers too. */
  work(): Promise<Answer>;
  /** What a request with this key has written, as it would have been answered; null: nothing. */
  findDone(): Promise<Answer | null>;
}

const CLAIM_MS = 5_000;
const RENEW_EVERY_MS = 1_500;
export const REPLAYED_HEADER = "idempotent-replayed";

/**
 * @throws {ShopError} `idempotency_mismatch` for another request with the same key, `idempotency_in_progress`
 * @throws {LockError} `backend_unavailable`
 */
export async function answerOnce(request: KeyedRequest, keyed: KeyedWork): Promise<Answer> {
  const hash = createHash("sha256").update(JSON.stringify(request.asked)).digest("base64url");
  const running = runningHere();
  const id = JSON.stringify([request.userId, request.route, request.key]);
  const first = running.get(id);
  if (first) {
    if (first.hash !== hash) throw mismatch();
    return replayed(await first.answer);
  }
  const answer = claimAndAnswer(request, hash, keyed);
  running.set(id, { hash, answer });
  try {
    return await answer;
  } finally {
    running.delete(id);
  }
}

interface Running {
  readonly hash: string;
  readonly answer: Promise<Answer>;
}

/** Those who ask at the same process wait for the first without asking PostgreSQL. */
function runningHere(): Map<string, Running> {
  return processSingleton("idempotency-running", () => new Map<string, Running>());
}

async function claimAndAnswer(request: KeyedRequest, hash: string, keyed: KeyedWork): Promise<Answer> {
  const giveUpAtMs = performance.now() + request.waitMs;
  for (;;) {
    const claimId = randomUUID();
    const claim = await claimOrRead(request, hash, claimId);
    if (claim.state === "answered") return replayed(claim.answer);
    if (claim.state === "claimed") {
      const answer = await workUnderClaim(request, { claimId, isTakenOver: claim.isTakenOver }, keyed);
      if (answer) return answer;
    }
    const leftMs = giveUpAtMs - performance.now();
    if (leftMs <= 0) throw inProgress();
    await watcher().changed([request.userId, request.route, request.key], leftMs);
  }
}

const CHANGED = `SELECT n.user_id, n.route, n.key FROM unnest($1::text[], $2::text[], $3::text[]) AS n (user_id, route, key)
  LEFT JOIN idempotency_keys k ON k.user_id = n.user_id AND k.route = n.route AND k.key = n.key
  WHERE k.key IS NULL OR k.status IS NOT NULL OR k.claimed_until <= now()`;

function watcher(): KeyWatcher {
  return processSingleton(
    "idempotency-watcher",
    () =>
      new KeyWatcher(async (names) => {
        const columns = [0, 1, 2].map((column) => names.map((name) => name[column as 0 | 1 | 2]));
        const rows = await ask<{ user_id: string; route: string; key: string }>(CHANGED, columns);
        return rows.map(({ user_id, route, key }) => [user_id, route, key] as const);
      }),
  );
}

interface Claim {
  readonly claimId: string;
  readonly isTakenOver: boolean;
}

/** @returns null when somebody else took over meanwhile: theirs is the first answer then */
async function workUnderClaim(request: KeyedRequest, claim: Claim, keyed: KeyedWork): Promise<Answer | null> {
  const { claimId, isTakenOver } = claim;
  const held = [request.userId, request.route, request.key, claimId];
  const renewer = claims();
  renewer.hold(claimId, held);
  try {
    const answer = (isTakenOver ? await keyed.findDone() : null) ?? (await keyed.work());
    return (await settle(held, answer)) ? answer : null;
  } catch (error) {
    await settle(held, null);
    throw error;
  } finally {
    renewer.letGo(claimId);
  }
}

const CLAIM = `INSERT INTO idempotency_keys AS k (user_id, route, key, request_hash, claimed_by, claimed_until)
  VALUES ($1, $2, $3, $4, $5, now() + ${CLAIM_MS} * interval '1 millisecond')
  ON CONFLICT (user_id, route, key) DO UPDATE SET claimed_by = EXCLUDED.claimed_by, claimed_until = EXCLUDED.claimed_until
  WHERE k.status IS NULL AND k.request_hash = EXCLUDED.request_hash AND k.claimed_until <= now()
  RETURNING (xmax <> 0) AS "isTakenOver"`;
const READ = `SELECT request_hash AS hash, status, headers, body FROM idempotency_keys
  WHERE user_id = $1 AND route = $2 AND key = $3`;

type ClaimState =
  | { readonly state: "claimed"; readonly isTakenOver: boolean }
  | { readonly state: "answered"; readonly answer: Answer }
  | { readonly state: "running" };

async function claimOrRead({ userId, route, key }: KeyedRequest, hash: string, claimId: string): Promise<ClaimState> {
  const name = [userId, route, key];
  const [claimed] = await ask<{ isTakenOver: boolean }>(CLAIM, [...name, hash, claimId]);
  if (claimed) return { state: "claimed", isTakenOver: claimed.isTakenOver };
  const [row] = await ask<{ hash: string; status: number | null; headers: Answer["headers"]; body: string }>(
    READ,
    name,
  );
  if (row && row.hash !== hash) throw mismatch();
  if (row?.status == null) return { state: "running" };
  return { state: "answered", answer: { status: row.status, headers: row.headers, body: row.body } };
}

/**
 * Keeps a definite answer. One that sold nothing and may be tried again (429, 503) frees the key; where the outcome is not
 * known the claim ends, and the next one with the key finds out.
 * @returns false when the claim had been taken over
 */
async function settle(held: readonly string[], answer: Answer | null): Promise<boolean> {
  try {
    if (answer && answer.status < 500 && answer.status !== 429) {
      const values = [...held, answer.status, JSON.stringify(answer.headers), answer.body];
      return (await ask(KEEP, values)).length === 1;
    }
    const isFree = answer?.status === 503 || answer?.status === 429;
    await ask(
      isFree ? `DELETE FROM idempotency_keys ${HELD}` : `UPDATE idempotency_keys SET claimed_until = now() ${HELD}`,
      held,
    );
    return true;
  } catch (error) {
    // What was sold is sold: its answer does not hang on being kept. The claim runs out, and the order is found by its key.
    log().warn({ reason: (error as Error).message }, "an answer of an idempotency key was not kept");
    return true;
  }
}

const NAMED = "WHERE user_id = $1 AND route = $2 AND key = $3";
const HELD = `${NAMED} AND claimed_by = $4 AND status IS NULL`;
/** A sale is the answer, also where somebody took over meanwhile and was refused. */
const KEEP = `UPDATE idempotency_keys SET status = $5, headers = $6, body = $7 ${NAMED}
  AND (claimed_by = $4 AND status IS NULL OR $5 = 201 AND status IS DISTINCT FROM 201) RETURNING 1`;

/** Forgets keys that nobody repeats any more. @returns how many */
export async function forgetOldKeys(keptMs: number): Promise<number> {
  const rows = await ask(
    `DELETE FROM idempotency_keys WHERE (user_id, route, key) IN (
       SELECT user_id, route, key FROM idempotency_keys
       WHERE created_at < now() - $1::float8 * interval '1 millisecond' AND claimed_until < now() LIMIT 1000)
     RETURNING 1`,
    [keptMs],
  );
  return rows.length;
}

/** Renews every claim of this process in one statement, while there are any. */
class ClaimRenewer {
  private readonly held = new Map<string, readonly string[]>();
  private timer: NodeJS.Timeout | null = null;

  hold(claimId: string, held: readonly string[]): void {
    this.held.set(claimId, held);
    this.timer ??= setInterval(() => void this.renew(), RENEW_EVERY_MS).unref();
  }

  letGo(claimId: string): void {
    this.held.delete(claimId);
    if (this.held.size > 0 || !this.timer) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  /** A renewal that fails is one of three: the next may go through, and a claim that runs out costs a look at the orders. */
  private async renew(): Promise<void> {
    const text = `UPDATE idempotency_keys k SET claimed_until = now() + ${CLAIM_MS} * interval '1 millisecond'
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS h (user_id, route, key, claimed_by)
      WHERE k.user_id = h.user_id AND k.route = h.route AND k.key = h.key AND k.claimed_by = h.claimed_by
        AND k.status IS NULL`;
    const columns = [0, 1, 2, 3].map((column) => [...this.held.values()].map((held) => held[column]));
    await ask(text, columns).catch((error: Error) => log().warn({ reason: error.message }, "idempotency keys"));
  }
}

function claims(): ClaimRenewer {
  return processSingleton("idempotency-claims", () => new ClaimRenewer());
}

async function ask<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
  try {
    return (await postgresPool().query<Row>(text, [...values])).rows;
  } catch (error) {
    throw new LockError({
      code: "backend_unavailable",
      strategyId: "shop",
      resource: "idempotency key",
      message: `PostgreSQL did not answer: ${(error as Error).message}`,
      isDefinite: true,
      cause: error,
    });
  }
}

function replayed(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, [REPLAYED_HEADER]: "true" } };
}

function mismatch(): ShopError {
  const message = "Idempotency-Key: it was used for another request.";
  return new ShopError({ code: "idempotency_mismatch", message, details: { field: "idempotency-key" } });
}

function inProgress(): ShopError {
  const message = "Idempotency-Key: the first request with it is still running.";
  const details = { field: "idempotency-key" };
  return new ShopError({ code: "idempotency_in_progress", message, details, retryAfterSeconds: 1 });
}
