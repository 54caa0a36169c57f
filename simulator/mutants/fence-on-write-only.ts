import { redisFenced } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** The database checks the token only at the write, so a stale holder can write between a newer holder's read and write. */
export const fenceOnWriteOnly: Mutant = {
  name: "fence on the write only",
  strategy: redisFenced,
  profile: "pause",
  breaks: "lost-update",
  mistake: { fence: "write" },
};
