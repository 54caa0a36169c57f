import { pathToFileURL } from "node:url";
import { testProgram } from "../../support/test-program";
import { conformance } from "../suite/conformance";

/** Runs the suite on the broken lock. A separate program, because its tests must fail. */
const { file } = testProgram("tests/conformance/broken/lock-entry.ts");
await conformance("broken-lock", { module: pathToFileURL(file).href });
