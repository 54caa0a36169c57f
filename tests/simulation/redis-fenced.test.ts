import { redisFenced } from "./strategies/redis";
import { simulate } from "./strategy-suite";

simulate(redisFenced);
