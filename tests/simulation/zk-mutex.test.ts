import { zkMutex } from "./strategies/others";
import { simulate } from "./strategy-suite";

simulate(zkMutex);
