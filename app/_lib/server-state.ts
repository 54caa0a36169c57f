import type { CatalogueService } from "./strategy-catalogue";

/** State of a server in the header. `checking`: it has not answered since the lab's start, and may still do so. */
export type ServerState = "available" | "checking" | "unavailable";

export function serverStateOf({ present, checking }: CatalogueService, isReachable: boolean): ServerState {
  if (!isReachable) return "unavailable";
  if (present) return "available";
  return checking ? "checking" : "unavailable";
}

/** "6 of 6 servers", or "checking 2 of 6" shortly after the start: a longer text would wrap on phones. */
export function serversText(states: readonly ServerState[]): string {
  const count = (wanted: ServerState) => states.filter((state) => state === wanted).length;
  const checking = count("checking");
  return checking > 0
    ? `checking ${checking} of ${states.length}`
    : `${count("available")} of ${states.length} servers`;
}

const REFRESH_EVERY_MS = 10_000;
const CHECKING_EVERY_MS = 1_000;

/** How often a page asks for the state of the servers: often, while the lab still checks one. */
export function refreshEveryMs(services: readonly CatalogueService[]): number {
  return services.some(({ checking }) => checking) ? CHECKING_EVERY_MS : REFRESH_EVERY_MS;
}
