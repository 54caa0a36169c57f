import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import { bundle } from "../build/bundle";
import { ROOT } from "../supervisor/paths";
import { aloneReason } from "./test-files";

/**
 * Bundles tests and the programs that they start, because loading TypeScript takes seconds of CPU time in each process.
 */

/** Processes. A third one loads every package once more, which costs more than the waits that it overlaps. */
const GROUPS = 2;
/** Processes beside the groups, for files that run alone. */
const ALONE_AT_ONCE = 2;

/**
 * @param options isForMany: many processes load the bundle, so that it pays to bundle packages too
 * @returns the bundled file of each source, by its absolute path
 */
export async function bundleTests(
  sources: readonly string[],
  { outDir, isForMany = false }: { readonly outDir: string; readonly isForMany?: boolean },
): Promise<(source: string) => string> {
  rmSync(outDir, { recursive: true, force: true });
  const nameOf = (source: string) => path.relative(ROOT, source).replace(/\.tsx?$/, "");
  await bundle({
    entryPoints: Object.fromEntries(sources.map((source) => [nameOf(source), source])),
    outDir,
    splitting: true,
    plugins: isForMany ? [packagesInside, sourceUrls] : [sourceUrls],
  });
  return (source) => path.join(outDir, `${nameOf(source)}.mjs`);
}

export interface GroupedFiles {
  /** Each runs in a process. */
  readonly files: readonly string[];
  readonly concurrency: number;
}

/**
 * Lets the unit tests share a few processes. A file that changes its process, such as the environment, is marked `@alone`, and so is a
 * file that waits for seconds.
 * @param sources absolute paths of test files
 */
export function groupFiles(
  sources: readonly string[],
  { outDir, bundled }: { readonly outDir: string; readonly bundled: (source: string) => string },
): GroupedFiles {
  const alone = sources.filter((source) => aloneReason(source) !== null);
  const shared = sources.filter((source) => !alone.includes(source));
  const groups = Array.from({ length: Math.min(GROUPS, shared.length) }, (_, group) =>
    writeGroup(path.join(outDir, `group-${group + 1}.mjs`), everyNth(shared, group).map(bundled)),
  );
  return { files: [...groups, ...alone.map(bundled)], concurrency: GROUPS + ALONE_AT_ONCE };
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

/**
 * The packages that most processes of tests load. From a bundle a process loads them in two thirds of the CPU time. Others stay
 * outside, because they find files by their own place, or share state with a preloaded module as fast-check does.
 */
const PACKAGES_INSIDE =
  /^(@prisma\/client|@prisma\/adapter-pg|hdr-histogram-js|ioredis|memcache-client|node-zookeeper-client|pg|pino|prom-client|zod)(\/|$)/;
/** Optional dependencies of pg that are not installed. */
const NOT_INSTALLED = new Set(["pg-native", "cloudflare:sockets"]);
const IN_NODE_MODULES = /[\\/]node_modules[\\/]/;
/** A source map that says nothing: those of packages would double what each process parses. */
const EMPTY_MAP = Buffer.from('{"version":3,"sources":[""],"mappings":"A"}').toString("base64");

const packagesInside: Plugin = {
  name: "packages-inside",
  setup(build) {
    // These packages call `require` for modules of Node.js.
    const banner = `import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);`;
    Object.assign(build.initialOptions, { packages: "bundle", banner: { js: banner } });
    build.onResolve({ filter: /^[^./]/ }, ({ path: name, importer }) => {
      const isInside = IN_NODE_MODULES.test(importer) ? !NOT_INSTALLED.has(name) : PACKAGES_INSIDE.test(name);
      return isInside || name.startsWith("@/") ? null : { path: name, external: true };
    });
    build.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, ({ path: file }) => ({
      contents: `${readFileSync(file, "utf8")}\n//# sourceMappingURL=data:application/json;base64,${EMPTY_MAP}`,
      loader: "js",
    }));
  },
};

/** Tests find files by their place in the sources, so `import.meta` must name the source file in a bundle too. */
export const sourceUrls: Plugin = {
  name: "source-urls",
  setup(build) {
    build.onLoad({ filter: /\.(ts|tsx|mjs)$/ }, ({ path: file }) => {
      const text = readFileSync(file, "utf8");
      if (file.includes(`${path.sep}node_modules${path.sep}`) || !text.includes("import.meta.")) return null;
      const contents = text
        .replaceAll(/import\.meta\.url/g, JSON.stringify(pathToFileURL(file).href))
        .replaceAll(/import\.meta\.dirname/g, JSON.stringify(path.dirname(file)));
      return { contents, loader: LOADERS[path.extname(file)] ?? "js", resolveDir: path.dirname(file) };
    });
  },
};

const LOADERS: Readonly<Record<string, "ts" | "tsx" | "js">> = { ".ts": "ts", ".tsx": "tsx", ".mjs": "js" };
