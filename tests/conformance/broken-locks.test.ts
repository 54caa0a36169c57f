import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { FAULTS } from "./broken/entry";

/** Every broken lock is put through these, beside the case that is to catch it. */
const OTHERS = ["answers `contended` when the wait is over", "is freed although the caller's signal aborts"];

/** @returns the names of the cases that passed and of those that failed */
async function runSuite(fault: string, cases: readonly string[]) {
  const program = fileURLToPath(new URL("./broken/run-main.ts", import.meta.url));
  const patterns = cases.map((name) => `--test-name-pattern=${name}`);
  const args = ["--import", "tsx", "--test-reporter=tap", ...patterns, program];
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    env: { ...env, BROKEN_LOCK: fault },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const lines = [...stdout.matchAll(/^ {4}(ok|not ok) \d+ - broken-lock (.*?)(?: # SKIP.*)?$/gm)];
  assert.ok(lines.length > 0, `the suite said nothing: ${stdout}${stderr}`);
  const ran = lines.filter(([line]) => !line.includes("# SKIP"));
  const named = (outcome: string) => ran.filter(([, is]) => is === outcome).map(([, , name = ""]) => name);
  return { passed: named("ok"), failed: named("not ok") };
}

describe("the conformance suite", { concurrency: 2 }, () => {
  for (const [fault, { caughtBy }] of Object.entries(FAULTS)) {
    it(`catches a lock with ${fault} by the case that is about it`, { timeout: 120_000 }, async () => {
      const { passed, failed } = await runSuite(fault, [caughtBy, ...OTHERS]);
      const isTheOne = (name: string) => name.startsWith(caughtBy);
      assert.ok(failed.some(isTheOne), `not caught; passed: ${passed.join("; ")}`);
      // A lock that excludes nobody is wrong in every respect.
      if (fault === "no exclusion") return;
      assert.deepEqual(
        failed.filter((name) => !isTheOne(name)),
        [],
        "failed for another reason",
      );
      assert.ok(passed.length >= OTHERS.length, `passed: ${passed.join("; ")}`);
    });
  }
});
