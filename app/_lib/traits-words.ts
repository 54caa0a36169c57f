import type { ServiceId, StrategyTraits, Survival } from "@/lib/locks/types";

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

/** How a waiter waits, and whether its turn is kept. */
export function waiterWords({ waiting, fair }: Pick<StrategyTraits, "waiting" | "fair">): string {
  return fair ? `${WAITING_WORDS[waiting]}, first come, first served` : WAITING_WORDS[waiting];
}

const SERVICE_WORDS: Record<ServiceId, string> = {
  postgres: "PostgreSQL",
  redis: "Redis",
  redlock: "five Redis servers",
  memcached: "Memcached",
  zookeeper: "ZooKeeper",
  etcd: "etcd",
};

/** PostgreSQL holds the stock, so everything needs it; what is said is what is needed besides. */
export function needsWords(needs: readonly ServiceId[]): string {
  const besides = needs.filter((need) => need !== "postgres").map((need) => SERVICE_WORDS[need]);
  return besides.length === 0 ? "PostgreSQL only" : besides.join(", ");
}
