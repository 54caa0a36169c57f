import { redisReentrant } from "./strategies/redis";
import { simulate } from "./strategy-suite";

simulate(redisReentrant);
