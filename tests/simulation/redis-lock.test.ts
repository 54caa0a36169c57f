import { redisLock } from "./strategies/redis";
import { simulate } from "./strategy-suite";

simulate(redisLock);
