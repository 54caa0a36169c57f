import path from "node:path";
import { SOURCE_MAP_FLAG } from "../../bin/build/source-map-flag";
import { ROOT } from "../../bin/supervisor/paths";

/** What Node.js starts: a bundle in a stage of `npm test`, otherwise TypeScript. */
export interface TestProgram {
  readonly file: string;
  readonly execArgv: readonly string[];
}

/**
 * A program of the tests. Its name ends in `-main.ts`, or in `-entry.ts` if another program imports it at run time.
 * @param source its path from the checkout's root
 */
export function testProgram(source: string): TestProgram {
  const { TEST_BUNDLE_DIR } = process.env;
  if (TEST_BUNDLE_DIR === undefined) return { file: path.join(ROOT, source), execArgv: ["--import", "tsx"] };
  return { file: path.join(TEST_BUNDLE_DIR, source.replace(/\.ts$/, ".mjs")), execArgv: [SOURCE_MAP_FLAG] };
}
