import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Assigns test files to stages by folder and file name, so that there is no list to maintain. */

export const TEST_FOLDERS = ["conformance", "integration", "simulation", "interop", "http", "k6", "e2e"] as const;
export type TestFolder = (typeof TEST_FOLDERS)[number];

const NEVER_ENTERED = new Set(["node_modules", ".git", ".lab", "generated", "test-results", "playwright-report"]);

/** The end of the name of tests that start programs or take seconds by nature. They need no servers either. */
const PROCESS_TEST = /\.process\.test\.ts$/;

/** Tests beside the code, and those in `tests/` outside of the stages' folders: they need no servers. */
export function unitTestFiles(root: string): string[] {
  return testsOutsideStages(root).filter((file) => !PROCESS_TEST.test(file));
}

/** `*.process.test.ts`, beside the code. */
export function processTestFiles(root: string): string[] {
  return testsOutsideStages(root).filter((file) => PROCESS_TEST.test(file));
}

function testsOutsideStages(root: string): string[] {
  const stages = TEST_FOLDERS.map((folder) => path.join(root, "tests", folder) + path.sep);
  return filesUnder(root, /\.test\.tsx?$/).filter((file) => !stages.some((stage) => file.startsWith(stage)));
}

/** `tests/<folder>/**`: `*.test.ts` for node:test, `*.spec.ts` for Playwright. */
export function stageTestFiles(root: string, folder: TestFolder): string[] {
  return filesUnder(path.join(root, "tests", folder), folder === "e2e" ? /\.(spec|test)\.ts$/ : /\.test\.ts$/);
}

/** Programs and modules that tests start in other processes. */
export function testPrograms(root: string): string[] {
  return filesUnder(path.join(root, "tests"), /-(main|entry)\.ts$/);
}

/** Files with this in their path from the root; null: all. */
export function withPart(files: readonly string[], part: string | null): string[] {
  return files.filter((file) => part === null || path.relative(process.cwd(), file).includes(part));
}

/**
 * A comment line `// @alone: <reason>` marks a test file that must not share. A unit test file then gets its own process,
 * and a test file of a stage runs while no other file of that stage runs.
 * @returns null if the file may share
 */
export function aloneReason(file: string): string | null {
  return /^\/\/ @alone: (\S.*)$/m.exec(readFileSync(file, "utf8"))?.[1] ?? null;
}

function filesUnder(dir: string, pattern: RegExp): string[] {
  if (!existsSync(dir)) return [];
  const entries = readdirSync(dir, { withFileTypes: true, encoding: "utf8" });
  return entries
    .flatMap((entry) => {
      const full = path.join(dir, entry.name);
      if (entry.isDirectory()) return isEntered(entry.name) ? filesUnder(full, pattern) : [];
      return pattern.test(entry.name) ? [full] : [];
    })
    .sort();
}

function isEntered(name: string): boolean {
  return !NEVER_ENTERED.has(name) && !name.startsWith(".next");
}
