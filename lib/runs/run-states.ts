/** The states by which runs are listed: a run that has ended is found by its verdict, others by their status. */
export const RUN_STATES = ["safe", "unsafe", "inconclusive", "failed", "running"] as const;
