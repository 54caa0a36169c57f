import { etcdLock } from "./strategies/others";
import { simulate } from "./strategy-suite";

simulate(etcdLock);
