import { createHmac, randomBytes } from "node:crypto";
import { postgresPool } from "./postgres";

/**
 * Sessions of people who proved that they know the admin token. The cookie holds a random value; the database holds its
 * digest, so that every process knows the session and a copy of the database opens none. The digest depends on the admin
 * token, so that a new token ends all sessions.
 */

export const SESSION_SECONDS = 8 * 3_600;

const VALUE_BYTES = 32;
const VALUE = /^[A-Za-z0-9_-]{43}$/;

/** @returns the cookie's value */
export async function openSession(adminToken: string): Promise<string> {
  const value = randomBytes(VALUE_BYTES).toString("base64url");
  await postgresPool().query(
    `WITH old AS (DELETE FROM admin_sessions WHERE expires_at < now())
     INSERT INTO admin_sessions (hash, expires_at) VALUES ($1, now() + make_interval(secs => $2))`,
    [digestOf(value, adminToken), SESSION_SECONDS],
  );
  return value;
}

export async function isOpenSession(value: string, adminToken: string): Promise<boolean> {
  if (!VALUE.test(value)) return false;
  const { rowCount } = await postgresPool().query(
    "SELECT 1 FROM admin_sessions WHERE hash = $1 AND expires_at > now()",
    [digestOf(value, adminToken)],
  );
  return rowCount === 1;
}

/** Ends the session at every process. */
export async function closeSession(value: string, adminToken: string): Promise<void> {
  await postgresPool().query("DELETE FROM admin_sessions WHERE hash = $1", [digestOf(value, adminToken)]);
}

function digestOf(value: string, adminToken: string): string {
  return createHmac("sha256", adminToken).update(`flash-sale-lab session\n${value}`).digest("hex");
}
