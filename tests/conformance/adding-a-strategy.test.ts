import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { ROOT } from "../../bin/supervisor/paths";

interface Block {
  /** A new file, text for the beginning or the end of a file, or items for the end of an array. */
  readonly kind: "file" | "import" | "line" | "item";
  /** Path of the file, for `item` with the name of the array: `path#array`. */
  readonly target: string;
  readonly text: string;
}

/** The code blocks of the page that name a target file. */
function readBlocks(): Block[] {
  const page = readFileSync(path.join(ROOT, "docs/adding-a-strategy.md"), "utf8");
  const found = page.matchAll(/```ts (file|import|line|item)=(\S+)\n([\s\S]*?)```/g);
  return [...found].map(([, kind, target = "", text = ""]) => ({ kind: kind as Block["kind"], target, text }));
}

const fileOf = ({ target }: Block) => target.split("#", 1)[0] ?? "";
const linesOf = ({ text }: Block) => text.trimEnd().split("\n").length;

/** @returns the content of the target file with the block in its place */
function place({ kind, target, text }: Block, content: string): string {
  if (kind === "file") return text;
  if (kind === "import") return text + content;
  if (kind === "line") return `${content}\n${text}`;
  const array = target.split("#")[1] ?? "";
  const start = content.search(new RegExp(`^(export )?const ${array}\\b`, "m"));
  const end = content.indexOf("\n];", start);
  assert.ok(start >= 0 && end >= 0, `expected the array ${array} in ${target}, found none`);
  return `${content.slice(0, end + 1)}${text}${content.slice(end + 1)}`;
}

const COPIED_PARTS = [
  "lib",
  "bin",
  "servers",
  "load-tests",
  "simulator",
  "generated",
  "prisma",
  "tests/support",
  "tests/conformance",
  "package.json",
  "tsconfig.json",
];

describe("docs/adding-a-strategy.md", () => {
  const blocks = readBlocks();
  let copy: string;

  before(() => {
    // Inside the repository, so that packages resolve, in a folder that git ignores.
    mkdirSync(path.join(ROOT, ".lab"), { recursive: true });
    copy = mkdtempSync(path.join(ROOT, ".lab/adding-"));
    for (const part of COPIED_PARTS)
      if (existsSync(path.join(ROOT, part))) cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
    for (const block of blocks) {
      const file = path.join(copy, fileOf(block));
      assert.equal(
        existsSync(file),
        block.kind !== "file",
        `${block.kind}=${block.target} does not match the repository`,
      );
      writeFileSync(file, place(block, existsSync(file) ? readFileSync(file, "utf8") : ""));
    }
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  /** @returns the exit code and the output */
  function run(args: readonly string[]) {
    const { NODE_TEST_CONTEXT: _ours, TEST_BUNDLE_DIR: _ourBundle, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, env, encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  }

  /** Runs TypeScript of the copy. */
  function evaluate(main: string, ...args: readonly string[]) {
    return run(["--import", "tsx", "--input-type=module", "--eval", main, ...args]);
  }

  /** Runs test files of the copy as `npm test` does. */
  function runTests(...files: readonly string[]) {
    const { status, output } = evaluate(`
      import { runNodeTests } from "./bin/testing/node-test-job";
      import { testPrograms } from "./bin/testing/test-files";
      const files = ${JSON.stringify(files.map((file) => path.join(copy, file)))};
      const job = { name: "example", batches: [{ files, concurrency: 2 }], programs: testPrograms(${JSON.stringify(copy)}), limitMs: 200_000 };
      const { signal } = new AbortController();
      const tally = await runNodeTests(job, { env: process.env, filter: null, file: null, isCi: true, resultsDir: "results", signal });
      console.log(JSON.stringify(tally));
      process.exitCode = tally.failed;
    `);
    assert.equal(status, 0, output);
    return { output, passed: Number(/^\{"passed":(\d+)/m.exec(output)?.[1]) };
  }

  it("adds a lock with one file, one registry line and a test of three lines", () => {
    const [lock, line, test] = blocks;
    assert.equal(lock?.target, "lib/locks/redis/redis-stamp.ts");
    assert.deepEqual([line?.kind, line?.target, line && linesOf(line)], ["line", "lib/locks/all-locks.ts", 1]);
    assert.deepEqual([test?.target, test && linesOf(test)], ["tests/conformance/redis-stamp.test.ts", 3]);
  });

  it("adds an atomic strategy with one file, one registry line and a test of three lines", () => {
    const at = blocks.findIndex(({ target }) => target === "lib/stock/sql-checked.ts");
    const [, , item, test] = blocks.slice(at);
    const registry = "lib/stock/stock-strategies.ts#atomicEntries";
    assert.deepEqual([item?.target, item && linesOf(item)], [registry, 1]);
    assert.deepEqual([test?.target, test && linesOf(test)], ["tests/conformance/sql-checked.test.ts", 3]);
  });

  it("shows code that type-checks", () => {
    const config = {
      extends: "./tsconfig.json",
      include: ["lib/**/*.d.ts", "simulator/**/*.d.ts", ...new Set(blocks.map(fileOf))],
      exclude: [],
    };
    writeFileSync(path.join(copy, "tsconfig.example.json"), JSON.stringify(config));
    const { status, output } = run([path.join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.example.json"]);
    assert.equal(status, 0, output);
  });

  it("shows unit tests that pass", () => {
    assert.equal(runTests("lib/stock/sql-checked.test.ts").passed, 2);
  });

  it("shows a lock that violates no property in 200 simulated worlds of each profile", { timeout: 120_000 }, () => {
    const main = `import { main } from "./bin/lab"; await main(process.argv.slice(1));`;
    const { status, output } = evaluate(main, "simulate", "--strategy", "redis-stamp", "--seeds", "200");
    assert.equal(status, 0, output);
    assert.match(output, /600 of 600 worlds/);
  });

  it("shows a lock and an atomic strategy that pass the conformance suite", { timeout: 240_000 }, () => {
    const names = ["redis-stamp.test.ts", "sql-checked.test.ts", "coverage.test.ts"];
    const { output, passed } = runTests(...names.map((name) => path.join("tests/conformance", name)));
    assert.ok(passed >= 25, `expected at least 25 passed cases, found ${passed}`);
    assert.match(output, /✔ redis-stamp gives fencing tokens that rise/);
    assert.match(output, /✔ sql-checked gives each user one coupon/);
  });
});
