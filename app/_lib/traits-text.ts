import type { StrategyTraits, Survival } from "@/lib/locks/types";

/** Text for the values of a strategy's traits. */

export const SURVIVAL_TEXT: Record<Survival, string> = {
  survives: "safe",
  blocks: "blocked",
  breaks: "unsafe: two holders",
  "not-applicable": "not applicable",
};

export const WAITING_TEXT: Record<StrategyTraits["waiting"], string> = {
  none: "do not wait",
  queue: "wait in a queue",
  poll: "poll",
  notify: "wait for a notification",
  "row-queue": "wait in the row's lock queue",
  retry: "retry with backoff",
};

export const EXPIRY_TEXT: Record<StrategyTraits["expiryClock"], string> = {
  none: "no expiry",
  server: "the server's clock",
  client: "the client's clock",
  session: "the end of the session",
};

/** How waiters wait, and whether the order is first come, first served. */
export function waiterText({ waiting, fair }: Pick<StrategyTraits, "waiting" | "fair">): string {
  return fair ? `${WAITING_TEXT[waiting]}, in FIFO order` : WAITING_TEXT[waiting];
}

/** PostgreSQL holds the stock, so every strategy needs it; the text names the other servers. */
export function needsText(labels: readonly string[]): string {
  return labels.length === 0 ? "PostgreSQL only" : labels.join(", ");
}
