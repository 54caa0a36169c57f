import { conformance } from "./suite/conformance";

await conformance("redis-fenced");
