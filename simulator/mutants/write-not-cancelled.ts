import { redisReentrant } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** The store does not cancel a write at its limit, so the write can take effect after the lease of its lock has run out. */
export const writeNotCancelled: Mutant = {
  name: "write not cancelled",
  strategy: redisReentrant,
  profile: "benign",
  breaks: "lost-update",
  mistake: { cancelsWrites: false },
};
