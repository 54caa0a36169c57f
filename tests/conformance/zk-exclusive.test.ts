import { conformance } from "./suite/conformance";

await conformance("zk-exclusive");
