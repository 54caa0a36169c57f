import { redisFenced } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** The token is checked when the stock is written: between a newer holder's read and its write, the stale one gets in. */
export const fenceOnWriteOnly: Mutant = {
  name: "fence on the write only",
  strategy: redisFenced,
  profile: "pause",
  breaks: "lost-update",
  fence: "write",
};
