/** What `pg` and Prisma throw when PostgreSQL does not serve: it is unreachable, starts, stops, or has no connection left. */

/** Shutting down, crashed, starting up, too many connections; class 08: connection exceptions. */
const SQL_STATES = /^(57P0[123]|53300|08[0-9A-Z]{3})$/;
const CODES = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ETIMEDOUT",
  "EPIPE",
  "P1001",
  "P1008",
  "P1017",
  "P2024",
  "P2037",
]);
const MESSAGES =
  /timeout|terminat|DatabaseNotReachable|ECONNREFUSED|ECONNRESET|ETIMEDOUT|(^|\W)(57P0[123]|53300|08[0-9A-Z]{3})\W/i;
const MAX_CAUSES = 5;

/** True if a retry may succeed as soon as PostgreSQL serves again. */
export function isLostDatabase(error: unknown): boolean {
  let found = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof found === "object" && found !== null; depth += 1) {
    const { code, originalCode, message, cause } = found as Readonly<Record<string, unknown>>;
    const codes = [code, originalCode].filter((each) => typeof each === "string");
    if (codes.some((each) => CODES.has(each) || SQL_STATES.test(each))) return true;
    if (typeof message === "string" && MESSAGES.test(message)) return true;
    found = cause ?? (found as { meta?: { driverAdapterError?: unknown } }).meta?.driverAdapterError;
  }
  return false;
}
