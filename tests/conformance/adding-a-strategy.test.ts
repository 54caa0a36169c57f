import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { ROOT } from "../../bin/supervisor/paths";

interface Block {
  /** A complete new file, or a line to append to an existing one. */
  readonly kind: "file" | "line";
  readonly target: string;
  readonly text: string;
}

/** The page's code blocks that name a target file. */
function readBlocks(): Block[] {
  const page = readFileSync(path.join(ROOT, "docs/adding-a-strategy.md"), "utf8");
  const found = page.matchAll(/```ts (file|line)=(\S+)\n([\s\S]*?)```/g);
  return [...found].map(([, kind, target = "", text = ""]) => ({ kind: kind as Block["kind"], target, text }));
}

const linesOf = ({ text }: Block) => text.trimEnd().split("\n").length;

describe("docs/adding-a-strategy.md", () => {
  const blocks = readBlocks();
  let copy: string;

  before(() => {
    // Inside the repository, so that packages resolve, in a folder that git ignores.
    mkdirSync(path.join(ROOT, ".lab"), { recursive: true });
    copy = mkdtempSync(path.join(ROOT, ".lab/adding-"));
    for (const part of [
      "lib",
      "servers",
      "bin",
      "generated",
      "tests/support",
      "tests/conformance",
      "package.json",
      "tsconfig.json",
    ])
      if (existsSync(path.join(ROOT, part))) cpSync(path.join(ROOT, part), path.join(copy, part), { recursive: true });
    for (const { kind, target, text } of blocks) {
      if (kind === "file") writeFileSync(path.join(copy, target), text);
      else appendFileSync(path.join(copy, target), text);
    }
  });
  after(() => rmSync(copy, { recursive: true, force: true }));

  /** @returns the exit code and the output */
  function run(args: readonly string[]) {
    const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, env, encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  }

  it("costs one file, one registry line and a test file under 20 lines", () => {
    const costs = blocks.map((block) => [block.kind, path.dirname(block.target), linesOf(block)]);
    const [strategy, line, test, ...others] = costs;
    assert.deepEqual(others, []);
    assert.deepEqual(strategy?.slice(0, 2), ["file", "lib/locks/redis"]);
    assert.deepEqual(line, ["line", "lib/locks", 1]);
    assert.deepEqual(test?.slice(0, 2), ["file", "tests/conformance"]);
    assert.ok(Number(test?.[2]) < 20, `the test file has ${test?.[2]} lines`);
  });

  it("shows code that type-checks", () => {
    const config = {
      extends: "./tsconfig.json",
      include: ["lib/**/*.d.ts", ...blocks.map(({ target }) => target)],
      exclude: [],
    };
    writeFileSync(path.join(copy, "tsconfig.example.json"), JSON.stringify(config));
    const { status, output } = run([path.join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.example.json"]);
    assert.equal(status, 0, output);
  });

  it("shows a strategy that passes the conformance suite", { timeout: 240_000 }, () => {
    const tests = ["redis-stamp.test.ts", "coverage.test.ts"].map((name) => path.join("tests/conformance", name));
    const { status, output } = run(["--import", "tsx", "--test", "--test-reporter=tap", ...tests]);
    assert.equal(status, 0, output);
    const passed = Number(/^# pass (\d+)$/m.exec(output)?.[1]);
    assert.ok(passed >= 20, `${passed} cases passed`);
    assert.match(output, /ok \d+ - redis-stamp gives fencing tokens that rise/);
  });
});
