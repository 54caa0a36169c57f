import { type Env, parseEnv } from "./env";
import { processSingleton } from "./singleton";

/** The environment of this process, parsed at first use. */
export function env(): Env {
  return processSingleton("env", () => parseEnv(process.env));
}
