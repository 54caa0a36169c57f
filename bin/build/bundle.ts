import { build, type Plugin } from "esbuild";
import { ROOT } from "../supervisor/paths";

/** TypeScript programs as plain JavaScript files that start without a loader. */

export interface BundleOptions {
  /** Paths from the checkout's root, by the names of their output files without the extension. */
  readonly entryPoints: Readonly<Record<string, string>>;
  readonly outDir: string;
  /** Moves modules that several entry points share into files of their own, so that a process loads them once. */
  readonly splitting?: boolean;
  readonly plugins?: readonly Plugin[];
}

/**
 * Writes `<outDir>/<name>.mjs` with a source map for each entry point. Packages stay outside: the files import them from
 * node_modules, so that a package which Next loads too exists once in a process.
 * @returns the source files that the bundles contain, from the checkout's root
 */
export async function bundle({
  entryPoints,
  outDir,
  splitting = false,
  plugins = [],
}: BundleOptions): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { ...entryPoints },
    outdir: outDir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting,
    chunkNames: "chunks/[name]-[hash]",
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
    sourcemap: "linked",
    sourcesContent: false,
    metafile: true,
    logLevel: "warning",
    plugins: [...plugins],
  });
  return Object.keys(metafile.inputs);
}
