import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import { bundle } from "../../bin/build/bundle";
import { ROOT } from "../../bin/supervisor/paths";

const FOLDER = path.join(ROOT, ".lab");
let built: Promise<string> | null = null;

/** The program of `ShopNode` as JavaScript, built once per test process. It starts in a third of the CPU time that tsx takes. */
export function shopNodeScript(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  // Inside the repository, so that packages resolve.
  const outDir = mkdtempSync(path.join(FOLDER, "shop-node-"));
  process.once("exit", () => rmSync(outDir, { recursive: true, force: true }));
  await bundle({ entryPoints: { main: "tests/support/shop-node-main.ts" }, outDir });
  return path.join(outDir, "main.mjs");
}
