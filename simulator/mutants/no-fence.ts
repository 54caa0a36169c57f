import { redisFenced } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** The lock issues fencing tokens, but the database does not check them. */
export const noFence: Mutant = {
  name: "no fence",
  strategy: redisFenced,
  profile: "pause",
  breaks: "lost-update",
  mistake: { fence: "nowhere" },
};
