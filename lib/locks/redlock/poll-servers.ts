/** What the servers have said so far; null where one has said nothing yet. */
export type Answers<T> = readonly (T | null)[];

export interface Poll<T> {
  readonly servers: number;
  /** Asks one server. Once the signal aborts, its answer no longer matters: drop the timers. Never rejects. */
  ask(server: number, signal: AbortSignal): Promise<T>;
  isDecided(answers: Answers<T>): boolean;
}

/** Asks all servers at once and resolves as soon as their answers decide, or all have answered: a slow one costs nothing. */
export function pollServers<T>({ servers, ask, isDecided }: Poll<T>): Promise<Answers<T>> {
  const answers: (T | null)[] = Array.from({ length: servers }, () => null);
  const decided = new AbortController();
  return new Promise((resolve) => {
    answers.forEach(async (_, server) => {
      const answer = await ask(server, decided.signal);
      if (decided.signal.aborted) return;
      answers[server] = answer;
      if (answers.includes(null) && !isDecided(answers)) return;
      decided.abort();
      resolve(answers);
    });
  });
}
