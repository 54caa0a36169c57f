import path from "node:path";
import { bundle } from "./bundle";
import { SOURCE_MAP_FLAG } from "./source-map-flag";

/** The programs that a build holds beside Next's pages: what a store node's machine runs without a TypeScript loader. */

const PROGRAMS = {
  server: "server.ts",
  migrate: "bin/migrate.ts",
  "load-generator": "bin/load/builtin.ts",
} as const;

export type ProgramName = keyof typeof PROGRAMS;
export const PROGRAM_SOURCES: readonly string[] = Object.values(PROGRAMS);

/** The bundle of a program in a build, from the checkout's root. */
export function programFile(distDir: string, name: ProgramName): string {
  return path.join(distDir, "programs", `${name}.mjs`);
}

/** Arguments of Node.js that start a program of a build. */
export function programArgs(distDir: string, name: ProgramName): string[] {
  return [SOURCE_MAP_FLAG, programFile(distDir, name)];
}

/** @returns the source files that the programs contain */
export async function bundlePrograms(distDir: string): Promise<string[]> {
  return bundle({ entryPoints: PROGRAMS, outDir: path.join(distDir, "programs") });
}
