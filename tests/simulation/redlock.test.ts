import { redlock } from "./strategies/redis";
import { simulate } from "./strategy-suite";

simulate(redlock);
