import { conformance } from "./suite/conformance";

await conformance("sql-row-lock");
await conformance("sql-row-lock", { postgres: { rowLock: "nowait" } });
await conformance("sql-row-lock", { postgres: { rowLock: "skip-locked" } });
