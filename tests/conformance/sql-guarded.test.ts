import { conformance } from "./suite/conformance";

await conformance("sql-guarded");
