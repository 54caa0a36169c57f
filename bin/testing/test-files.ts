import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

/** Which tests belong to which stage: by place, so that nobody keeps a list. */

export const TEST_FOLDERS = ["conformance", "integration", "simulation", "interop", "http", "k6", "e2e"] as const;
export type TestFolder = (typeof TEST_FOLDERS)[number];

const NEVER_ENTERED = new Set(["node_modules", ".git", ".lab", "generated", "test-results", "playwright-report"]);

/** Tests beside the code, and those in `tests/` outside of the stages' folders: they need no servers. */
export function unitTestFiles(root: string): string[] {
  const stages = TEST_FOLDERS.map((folder) => path.join(root, "tests", folder) + path.sep);
  return filesUnder(root, /\.test\.tsx?$/).filter((file) => !stages.some((stage) => file.startsWith(stage)));
}

/** `tests/<folder>/**`: `*.test.ts` for node:test, `*.spec.ts` for Playwright. */
export function stageTestFiles(root: string, folder: TestFolder): string[] {
  return filesUnder(path.join(root, "tests", folder), folder === "e2e" ? /\.(spec|test)\.ts$/ : /\.test\.ts$/);
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
