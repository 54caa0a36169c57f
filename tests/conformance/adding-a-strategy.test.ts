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
  /** A whole new file, or a line for one that is there. */
  readonly kind: "file" | "line";
  readonly target: string;
  readonly text: string;
}

/** The page's blocks that say where they belong. */
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
    // Inside the repository, where its packages are found, and out of git's sight.
    mkdirSync(path.join(ROOT, ".lab"), { recursive: true });
    copy = mkdtempSync(path.join(ROOT, ".lab/adding-"));
    for (const part of [
      "lib",
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

  /** @returns the exit code and all that was said */
  function run(args: readonly string[]) {
    const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: copy, env, encoding: "utf8" });
    return { status, said: `${stdout}${stderr}` };
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

  it("shows code that is well typed", () => {
    const config = {
      extends: "./tsconfig.json",
      include: ["lib/**/*.d.ts", ...blocks.map(({ target }) => target)],
      exclude: [],
    };
    writeFileSync(path.join(copy, "tsconfig.example.json"), JSON.stringify(config));
    const { status, said } = run([path.join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.example.json"]);
    assert.equal(status, 0, said);
  });

  it("shows a strategy that passes the conformance suite as it stands", { timeout: 240_000 }, () => {
    const tests = ["redis-stamp.test.ts", "coverage.test.ts"].map((name) => path.join("tests/conformance", name));
    const { status, said } = run(["--import", "tsx", "--test", "--test-reporter=tap", ...tests]);
    assert.equal(status, 0, said);
    const passed = Number(/^# pass (\d+)$/m.exec(said)?.[1]);
    assert.ok(passed >= 20, `${passed} cases passed`);
    assert.match(said, /ok \d+ - redis-stamp gives fencing tokens that rise/);
  });
});
