import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { testProgram } from "../support/test-program";
import { DEFECTS } from "./broken/lock-entry";

/** Cases that every broken lock must pass, in addition to the one that must fail. */
const OTHER_CASES = ["returns `contended` when the wait times out", "is released if the caller's signal aborts"];

/** @returns the names of the cases that passed and of those that failed */
async function runSuite(defect: string, cases: readonly string[]) {
  const { file, execArgv } = testProgram("tests/conformance/broken/suite-main.ts");
  const patterns = cases.map((name) => `--test-name-pattern=${name}`);
  const args = [...execArgv, "--test-reporter=tap", ...patterns, file];
  const { NODE_TEST_CONTEXT: _ours, ...env } = process.env;
  const child = spawn(process.execPath, args, {
    env: { ...env, BROKEN_LOCK: defect },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  const lines = [...stdout.matchAll(/^ {4}(ok|not ok) \d+ - broken-lock (.*?)(?: # SKIP.*)?$/gm)];
  assert.ok(lines.length > 0, `the suite reported no case: ${stdout}${stderr}`);
  const ran = lines.filter(([line]) => !line.includes("# SKIP"));
  const named = (outcome: string) => ran.filter(([, is]) => is === outcome).map(([, , name = ""]) => name);
  return { passed: named("ok"), failed: named("not ok") };
}

// Most of the time passes in waits.
describe("the conformance suite", { concurrency: 4 }, () => {
  for (const [defect, { caughtBy }] of Object.entries(DEFECTS)) {
    it(`detects a lock with ${defect} by the matching case only`, { timeout: 120_000 }, async () => {
      const { passed, failed } = await runSuite(defect, [caughtBy, ...OTHER_CASES]);
      const isExpected = (name: string) => name.startsWith(caughtBy);
      assert.ok(failed.some(isExpected), `expected a failure of "${caughtBy}", but these passed: ${passed.join("; ")}`);
      // A lock without exclusion fails almost every case.
      if (defect === "no exclusion") return;
      assert.deepEqual(
        failed.filter((name) => !isExpected(name)),
        [],
        "other cases failed too",
      );
      assert.ok(passed.length >= OTHER_CASES.length, `passed: ${passed.join("; ")}`);
    });
  }
});
