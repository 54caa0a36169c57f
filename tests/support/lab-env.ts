/**
 * Checks the environment of an integration test, which `npm test` sets. A missing server fails the test, because a skip would
 * hide a broken setup.
 */
export function requireEnv(...names: string[]): void {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length === 0) return;
  throw new Error(`These tests need ${missing.join(", ")}; run them with "npm test", which starts the servers.`);
}

/** Sets environment variables of this test process. Call it before the first read. */
export function setEnv(values: Record<string, string>): void {
  Object.assign(process.env, values);
}
