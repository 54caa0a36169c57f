/**
 * One instance a process. Next bundles route handlers apart from `server.ts`, so a module variable exists twice;
 * pools, registries and recorders must not.
 */
export function processSingleton<T>(name: string, create: () => T): T {
  const key = singletonKey(name);
  const store = globalThis as unknown as Record<symbol, T | undefined>;
  const existing = store[key];
  if (existing !== undefined) return existing;
  const created = create();
  store[key] = created;
  return created;
}

export function singletonKey(name: string): symbol {
  return Symbol.for(`flash-sale-lab.${name}`);
}
