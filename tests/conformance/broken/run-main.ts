import { conformance } from "../suite/conformance";

/** Runs the suite on the broken lock. A separate program, because its tests must fail. */
await conformance("broken-lock", { module: new URL("./entry.ts", import.meta.url).href });
