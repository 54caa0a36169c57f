import { conformance } from "./suite/conformance";

await conformance("sql-advisory");
await conformance("sql-advisory", { postgres: { advisory: "session" } });
