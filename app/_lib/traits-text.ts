import type { StrategyTraits, Survival } from "@/lib/locks/types";

/** The catalogue's terms as the pages say them. */

export const SURVIVAL_TEXT: Record<Survival, string> = {
  survives: "holds",
  blocks: "stops serving",
  breaks: "lets two in",
  "not-applicable": "does not apply",
};

export const WAITING_TEXT: Record<StrategyTraits["waiting"], string> = {
  none: "nobody waits",
  queue: "in a queue",
  poll: "asks again and again",
  notify: "is woken",
  "row-queue": "in the row's queue",
  retry: "tries again",
};

export const EXPIRY_TEXT: Record<StrategyTraits["expiryClock"], string> = {
  none: "nothing ends it",
  server: "the server's clock",
  client: "the client's clock",
  session: "the session's end",
};

/** How a waiter waits, and whether its turn is kept. */
export function waiterText({ waiting, fair }: Pick<StrategyTraits, "waiting" | "fair">): string {
  return fair ? `${WAITING_TEXT[waiting]}, first come, first served` : WAITING_TEXT[waiting];
}

/** PostgreSQL holds the stock, so every strategy needs it; the text names the other servers. */
export function needsText(labels: readonly string[]): string {
  return labels.length === 0 ? "PostgreSQL only" : labels.join(", ");
}
