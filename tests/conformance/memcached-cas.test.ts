import { conformance } from "./suite/conformance";

await conformance("memcached-cas");
