import { redisFenced } from "../strategies/redis";
import type { Mutant } from "./mutant";

/** The lock has a token, and nobody looks at it. */
export const noFence: Mutant = {
  name: "no fence",
  strategy: redisFenced,
  profile: "pause",
  breaks: "lost-update",
  fence: "nowhere",
};
