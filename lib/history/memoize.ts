/**
 * Computes a value once per argument object: several checkers need the same intermediate results. Weak keys free them
 * with the object.
 */
export function memoize<K extends object, T>(compute: (key: K) => T): (key: K) => T {
  const results = new WeakMap<K, { readonly value: T }>();
  return (key) => {
    const known = results.get(key);
    if (known) return known.value;
    const value = compute(key);
    results.set(key, { value });
    return value;
  };
}
