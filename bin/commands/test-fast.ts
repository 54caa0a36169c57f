import path from "node:path";
import type { Command } from "commander";
import { instancePaths, ROOT } from "../supervisor/paths";
import { runUnitTests } from "../testing/node-test-job";
import { readPropertySeed } from "../testing/property-seed";
import { abortOnStopSignals } from "../testing/stop-signals";
import { printSummary } from "../testing/summary";
import { failure } from "../testing/tally";
import { unitTestFiles, withPart } from "../testing/test-files";

/** `npm run test:fast`: all unit tests, or those of some files. */
export function addTestFastCommand(program: Command): void {
  program
    .command("test-fast")
    .description("run the unit tests, which need no servers and take seconds; prints failures only")
    .argument("[part]", "only test files with this in their path, as in lib/http")
    .option("--filter <pattern>", "only tests whose name matches")
    .action(async (part: string | undefined, { filter }: { filter?: string }) => {
      process.exitCode = await testFast(part ?? null, filter ?? null);
    });
}

async function testFast(file: string | null, filter: string | null): Promise<number> {
  const propertySeed = readPropertySeed();
  const env: NodeJS.ProcessEnv = { ...process.env, PROPERTY_SEED: String(propertySeed) };
  delete env.NODE_TEST_CONTEXT;
  const files = unitTestFiles(ROOT);
  if (withPart(files, file).length === 0)
    return printSummary(failure(`no unit test file has "${file}" in its path`), propertySeed);
  const context = {
    env,
    filter,
    file,
    isCi: process.env.CI === "true",
    resultsDir: path.join(instancePaths("unit").dir, "results", String(process.pid)),
    signal: abortOnStopSignals(),
  };
  return printSummary(await runUnitTests(files, context, { isQuiet: true }), propertySeed);
}
