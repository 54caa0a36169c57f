import { conformance } from "./suite/conformance";

await conformance("local-mutex");
