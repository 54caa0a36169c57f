import { conformance } from "./suite/conformance";

await conformance("none");
