import { memcachedAdd } from "./strategies/others";
import { simulate } from "./strategy-suite";

simulate(memcachedAdd);
