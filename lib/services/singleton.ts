/**
 * One instance per process. The bundles of Next and of `server.ts` each have their own copy of a module's variables, but
 * pools, registries and recorders must exist only once.
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
