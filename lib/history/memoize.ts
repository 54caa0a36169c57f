/** Makes a question about a history be answered once: several checkers ask the same ones. The answer goes with the history. */
export function memoize<K extends object, T>(answer: (subject: K) => T): (subject: K) => T {
  const known = new WeakMap<K, { readonly value: T }>();
  return (subject) => {
    const before = known.get(subject);
    if (before) return before.value;
    const value = answer(subject);
    known.set(subject, { value });
    return value;
  };
}
