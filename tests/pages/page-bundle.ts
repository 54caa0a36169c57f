import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import { bundle } from "../../bin/build/bundle";
import { ROOT } from "../../bin/supervisor/paths";
import { sourceUrls } from "../../bin/testing/test-bundle";

/** Loads components of the pages into this process: they import style sheets and next's modules, which Node.js cannot resolve. */
export async function loadPages<Module>(
  entry: string,
): Promise<{ readonly pages: Module; readonly remove: () => void }> {
  // Inside the checkout, so that the bundle finds its packages.
  const folder = path.join(ROOT, ".lab");
  mkdirSync(folder, { recursive: true });
  // React's production build, which renders several times as fast.
  Object.assign(process.env, { NODE_ENV: "production" });
  const outDir = mkdtempSync(path.join(folder, "pages-"));
  const remove = () => rmSync(outDir, { recursive: true, force: true });
  try {
    await bundle({ entryPoints: { pages: entry }, outDir, plugins: [sourceUrls, styleSheets, nextModules] });
    return { pages: (await import(pathToFileURL(path.join(outDir, "pages.mjs")).href)) as Module, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A class name stands for itself. */
const styleSheets: Plugin = {
  name: "style-sheets",
  setup(build) {
    build.onResolve({ filter: /\.css$/ }, ({ path: name }) => ({ path: name, namespace: "style-sheets" }));
    build.onLoad({ filter: /./, namespace: "style-sheets" }, () => ({
      contents: "export default new Proxy({}, { get: (_, name) => String(name) });",
      loader: "js",
    }));
  },
};

/** `next/link` is a file without the ending that Node.js requires. */
const nextModules: Plugin = {
  name: "next-modules",
  setup(build) {
    build.onResolve({ filter: /^next\// }, ({ path: name }) => ({
      path: `${name.replace(/\.js$/, "")}.js`,
      external: true,
    }));
  },
};
