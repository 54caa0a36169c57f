import { conformance } from "../suite/conformance";

/** Runs the suite over the broken lock; a program of its own, since its tests are to fail. */
await conformance("broken-lock", { module: new URL("./entry.ts", import.meta.url).href });
