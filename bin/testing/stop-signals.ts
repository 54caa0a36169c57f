/** Aborts at SIGINT, SIGTERM or SIGHUP. */
export function abortOnStopSignals(): AbortSignal {
  const interrupted = new AbortController();
  const interrupt = (signal: NodeJS.Signals) => interrupted.abort(new Error(`interrupted by ${signal}`));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  return interrupted.signal;
}
