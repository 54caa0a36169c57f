import { zkFenced } from "./strategies/others";
import { simulate } from "./strategy-suite";

simulate(zkFenced);
