import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import { bundle } from "../build/bundle";
import { ROOT } from "../supervisor/paths";
import { aloneReason } from "./test-files";

/**
 * Bundles the unit tests, because loading TypeScript in a process per file took five times as long as the tests. The
 * files of a group share a process. A file that changes its process, such as the environment, is marked `@alone`, and so is a
 * file that waits for seconds.
 */

/** Processes. A third one loads every package once more, which costs more than the waits that it overlaps. */
const GROUPS = 2;
/** Processes beside the groups, for files that run alone. */
const ALONE_AT_ONCE = 2;

export interface UnitBundle {
  /** The program that runs test files: bin/testing/node-tests.ts. */
  readonly runner: string;
  /** Each runs in a process. */
  readonly files: readonly string[];
  readonly concurrency: number;
}

/** @param files absolute paths of test files */
export async function bundleUnitTests(files: readonly string[], outDir: string): Promise<UnitBundle> {
  rmSync(outDir, { recursive: true, force: true });
  const nameOf = (file: string) => path.relative(ROOT, file).replace(/\.tsx?$/, "");
  await bundle({
    entryPoints: {
      "node-tests": "bin/testing/node-tests.ts",
      ...Object.fromEntries(files.map((file) => [nameOf(file), file])),
    },
    outDir,
    splitting: true,
    plugins: [sourceUrls],
  });
  const bundled = (file: string) => path.join(outDir, `${nameOf(file)}.mjs`);
  const alone = files.filter((file) => aloneReason(file) !== null);
  const shared = files.filter((file) => !alone.includes(file));
  const groups = Array.from({ length: Math.min(GROUPS, shared.length) }, (_, group) =>
    writeGroup(path.join(outDir, `group-${group + 1}.mjs`), everyNth(shared, group).map(bundled)),
  );
  return {
    runner: path.join(outDir, "node-tests.mjs"),
    files: [...groups, ...alone.map(bundled)],
    concurrency: GROUPS + ALONE_AT_ONCE,
  };
}

/** Spreads the files of a folder over all groups, because slow files often share a folder. */
function everyNth(files: readonly string[], first: number): string[] {
  return files.filter((_, index) => index % GROUPS === first);
}

function writeGroup(groupFile: string, files: readonly string[]): string {
  mkdirSync(path.dirname(groupFile), { recursive: true });
  writeFileSync(groupFile, files.map((file) => `import ${JSON.stringify(pathToFileURL(file).href)};\n`).join(""));
  return groupFile;
}

/** Tests find files by their place in the sources, so `import.meta` must name the source file in a bundle too. */
export const sourceUrls: Plugin = {
  name: "source-urls",
  setup(build) {
    build.onLoad({ filter: /\.(ts|tsx|mjs)$/ }, ({ path: file }) => {
      const text = readFileSync(file, "utf8");
      if (file.includes(`${path.sep}node_modules${path.sep}`) || !text.includes("import.meta.")) return null;
      const contents = text
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href))
        .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(file)));
      return { contents, loader: LOADERS[path.extname(file)] ?? "js", resolveDir: path.dirname(file) };
    });
  },
};

const LOADERS: Readonly<Record<string, "ts" | "tsx" | "js">> = { ".ts": "ts", ".tsx": "tsx", ".mjs": "js" };
