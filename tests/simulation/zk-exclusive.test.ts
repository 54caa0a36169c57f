import { zkExclusive } from "./strategies/others";
import { simulate } from "./strategy-suite";

simulate(zkExclusive);
