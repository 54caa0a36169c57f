import type { StrategyTraits, Survival } from "@/lib/locks/types";

/** The catalogue's terms as the pages say them. */

export const SURVIVAL_WORDS: Record<Survival, string> = {
  survives: "holds",
  blocks: "stops serving",
  breaks: "lets two in",
  "not-applicable": "does not apply",
};

export const WAITING_WORDS: Record<StrategyTraits["waiting"], string> = {
  none: "nobody waits",
  queue: "in a queue",
  poll: "asks again and again",
  notify: "is woken",
  "row-queue": "in the row's queue",
  retry: "tries again",
};

export const EXPIRY_WORDS: Record<StrategyTraits["expiryClock"], string> = {
  none: "nothing ends it",
  server: "the server's clock",
  client: "the client's clock",
  session: "the session's end",
};

export const KIND_WORDS: Record<StrategyTraits["kind"], string> = {
  lock: "lock round read, compute, write",
  atomic: "one conditional operation",
};
