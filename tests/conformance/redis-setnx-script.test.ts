import { conformance } from "./suite/conformance";

await conformance("redis-setnx-script");
