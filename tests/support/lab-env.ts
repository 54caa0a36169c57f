/**
 * The servers of an integration test, from the environment that `npm test` sets. A missing one fails the test: a skip
 * would let a broken set-up pass.
 */
export function requireEnv(...names: string[]): void {
  const missing = names.filter((name) => !process.env[name]);
  if (missing.length === 0) return;
  throw new Error(`These tests need ${missing.join(", ")}; run them by "npm test", which brings the servers up.`);
}

/** Sets variables of this test process before anything reads them. */
export function setEnv(values: Record<string, string>): void {
  Object.assign(process.env, values);
}
