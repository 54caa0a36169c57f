import assert from "node:assert/strict";
import { afterEach, beforeEach } from "node:test";
import { parseEnv } from "../../services/env";
import { singletonKey } from "../../services/singleton";
import { FakePostgres } from "./fake-postgres";

export interface Fakes {
  postgres: FakePostgres;
  /** Messages that were logged as warnings. */
  warnings: string[];
  /** Called with the fields of each warning. */
  onWarning: (facts: { readonly reason?: string }) => void;
}

/** Call inside `describe`: during each of its tests, PostgreSQL, the environment and the log of this process are fakes. */
export function useFakes(variables: Readonly<Record<string, string>> = {}): Fakes {
  const fakes: Fakes = { postgres: new FakePostgres(), warnings: [], onWarning: () => {} };
  let restore: () => void = () => {};
  beforeEach(() => {
    const postgres = new FakePostgres();
    const warnings: string[] = [];
    Object.assign(fakes, { postgres, warnings, onWarning: () => {} });
    restore = replaceSingletons({
      "postgres.pool": postgres,
      env: parseEnv({ DATABASE_URL: "postgresql://unused", ...variables }),
      log: {
        warn: (facts: object, message: string) => {
          warnings.push(message);
          fakes.onWarning(facts);
        },
      },
    });
  });
  afterEach(() => {
    restore();
    assert.deepEqual(fakes.postgres.unscripted, [], "expected a script for every statement");
  });
  return fakes;
}

/** @returns a function that puts the original singletons back */
export function replaceSingletons(replacements: Readonly<Record<string, unknown>>): () => void {
  const store = globalThis as unknown as Record<symbol, unknown>;
  const originals = Object.keys(replacements).map((name) => [singletonKey(name), store[singletonKey(name)]] as const);
  for (const [name, value] of Object.entries(replacements)) store[singletonKey(name)] = value;
  return () => {
    for (const [key, original] of originals) store[key] = original;
  };
}
