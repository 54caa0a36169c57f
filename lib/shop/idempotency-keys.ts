import { LockError } from "../locks/errors";
import { log } from "../services/log";
import { postgresPool } from "../services/postgres";
import type { Answer, AnswerKind } from "./idempotency";
import type { KeyName } from "./key-watcher";

/** The rows of `idempotency_keys`: claims on keys, and the answers that are kept under them. */

/** A claim that is not renewed expires after this. */
const CLAIM_MS = 5_000;
const CLAIM_EXPIRY = `now() + ${CLAIM_MS} * interval '1 millisecond'`;

export interface HeldClaim {
  readonly name: KeyName;
  readonly claimId: string;
}

export type ClaimState =
  /** `isTakenOver`: an earlier claim expired, so its request may have created an order. */
  | { readonly state: "claimed"; readonly isTakenOver: boolean }
  | { readonly state: "answered"; readonly answer: Answer }
  | { readonly state: "running" }
  /** The key was used with other content. */
  | { readonly state: "mismatch" };

const CLAIM = `INSERT INTO idempotency_keys AS k (user_id, route, key, request_hash, claimed_by, claimed_until)
  VALUES ($1, $2, $3, $4, $5, ${CLAIM_EXPIRY})
  ON CONFLICT (user_id, route, key) DO UPDATE SET claimed_by = EXCLUDED.claimed_by, claimed_until = EXCLUDED.claimed_until
  WHERE k.status IS NULL AND k.request_hash = EXCLUDED.request_hash AND k.claimed_until <= now()
  RETURNING (xmax <> 0) AS "isTakenOver"`;
const READ = `SELECT request_hash AS hash, status, headers, body FROM idempotency_keys
  WHERE user_id = $1 AND route = $2 AND key = $3`;

/** @throws {LockError} `backend_unavailable` */
export async function claimKey(name: KeyName, contentHash: string, claimId: string): Promise<ClaimState> {
  const [claimed] = await query<{ isTakenOver: boolean }>(CLAIM, [...name, contentHash, claimId]);
  if (claimed) return { state: "claimed", isTakenOver: claimed.isTakenOver };
  const [row] = await query<{ hash: string; status: number | null; headers: Answer["headers"]; body: string }>(
    READ,
    name,
  );
  if (row && row.hash !== contentHash) return { state: "mismatch" };
  if (row?.status == null) return { state: "running" };
  return { state: "answered", answer: { status: row.status, headers: row.headers, body: row.body } };
}

const NAMED = "WHERE user_id = $1 AND route = $2 AND key = $3";
const HELD = `${NAMED} AND claimed_by = $4 AND status IS NULL`;
/** An order's 201 replaces any other answer: a request that took the claim over was rejected because of that order. */
const KEEP = `UPDATE idempotency_keys SET status = $5, headers = $6, body = $7 ${NAMED}
  AND (claimed_by = $4 AND status IS NULL OR $5 = 201 AND status IS DISTINCT FROM 201) RETURNING 1`;
const FREE = `DELETE FROM idempotency_keys ${HELD}`;
const EXPIRE = `UPDATE idempotency_keys SET claimed_until = now() ${HELD}`;

/**
 * Ends a claim: keeps a final answer, frees the key after a retryable one. If the outcome is unknown, the claim expires, so
 * that the next request with the key looks for the order.
 * @returns false if another request took the claim over, so that its answer counts
 */
export async function settleClaim(
  { name, claimId }: HeldClaim,
  { answer, kind }: { readonly answer: Answer | null; readonly kind: AnswerKind },
): Promise<boolean> {
  const held = [...name, claimId];
  try {
    if (answer && kind === "final") {
      const kept = await query(KEEP, [...held, answer.status, JSON.stringify(answer.headers), answer.body]);
      return kept.length === 1;
    }
    await query(kind === "retryable" ? FREE : EXPIRE, held);
    return true;
  } catch (error) {
    // The buyer gets the answer anyway. The claim expires, and the next request finds the order by its key.
    log().warn({ reason: (error as Error).message }, "could not store the answer of an idempotency key");
    return true;
  }
}

/** Renews these claims in one statement. @throws {LockError} `backend_unavailable` */
export async function renewClaims(claims: readonly HeldClaim[]): Promise<void> {
  const rows = claims.map(({ name, claimId }) => [...name, claimId]);
  await query(
    `UPDATE idempotency_keys k SET claimed_until = ${CLAIM_EXPIRY}
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS h (user_id, route, key, claimed_by)
     WHERE k.user_id = h.user_id AND k.route = h.route AND k.key = h.key AND k.claimed_by = h.claimed_by
       AND k.status IS NULL`,
    [0, 1, 2, 3].map((column) => rows.map((row) => row[column])),
  );
}

/** The keys that a waiting request should claim again: answered, freed, or with an expired claim. */
export async function findChangedKeys(names: readonly KeyName[]): Promise<readonly KeyName[]> {
  const rows = await query<{ user_id: string; route: string; key: string }>(
    `SELECT n.user_id, n.route, n.key FROM unnest($1::text[], $2::text[], $3::text[]) AS n (user_id, route, key)
     LEFT JOIN idempotency_keys k ON k.user_id = n.user_id AND k.route = n.route AND k.key = n.key
     WHERE k.key IS NULL OR k.status IS NOT NULL OR k.claimed_until <= now()`,
    [0, 1, 2].map((column) => names.map((name) => name[column])),
  );
  return rows.map(({ user_id, route, key }) => [user_id, route, key] as const);
}

/** Deletes up to 1,000 keys older than `keptMs`. @returns how many it deleted */
export async function deleteOldKeys(keptMs: number): Promise<number> {
  const rows = await query(
    `DELETE FROM idempotency_keys WHERE (user_id, route, key) IN (
       SELECT user_id, route, key FROM idempotency_keys
       WHERE created_at < now() - $1::float8 * interval '1 millisecond' AND claimed_until < now() LIMIT 1000)
     RETURNING 1`,
    [keptMs],
  );
  return rows.length;
}

async function query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> {
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
