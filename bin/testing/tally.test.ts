import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { tallyPlaywright } from "./playwright-report";
import { addTallies, EMPTY_TALLY, lastLine, skipLines, type Tally, type TestEvent, tallyEvent } from "./tally";

const PASS: TestEvent = {
  outcome: "pass",
  name: "sells once",
  isSuite: false,
  skip: undefined,
  todo: undefined,
  failureType: undefined,
};
const local = { files: new Set(["/lab/a.test.ts"]), isCi: false };
const ci = { ...local, isCi: true };
const counts = ({ passed, failed, skips }: Tally) => [passed, failed, skips.length];

describe("counting tests of node:test", () => {
  it("counts cases, and neither suites nor tests that only failed through their subtests", () => {
    assert.deepEqual(counts(tallyEvent(PASS, local)), [1, 0, 0]);
    assert.deepEqual(counts(tallyEvent({ ...PASS, outcome: "fail" }, local)), [0, 1, 0]);
    assert.deepEqual(tallyEvent({ ...PASS, isSuite: true }, local), EMPTY_TALLY);
    const parent = { ...PASS, outcome: "fail", failureType: "subtestsFailed" } as const;
    assert.deepEqual(tallyEvent(parent, local), EMPTY_TALLY);
  });

  it("fails a file that crashed, and one that holds no test", () => {
    const file = { ...PASS, name: "/lab/a.test.ts" };
    assert.deepEqual(counts(tallyEvent({ ...file, outcome: "fail" }, local)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent(file, local)), [0, 1, 0]);
  });

  it("fails a skip in CI, unless it is not applicable there", () => {
    const noReason = { ...PASS, skip: true };
    const noServer = { ...PASS, skip: "no Redis" };
    const notApplicable = { ...PASS, skip: "not applicable: there is no C compiler" };
    assert.deepEqual(counts(tallyEvent(noReason, ci)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent(noServer, ci)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent({ ...PASS, todo: true }, ci)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent(notApplicable, ci)), [0, 0, 1]);
    assert.deepEqual(counts(tallyEvent(noServer, local)), [0, 0, 1]);
  });

  it("leaves out what a filter left out", () => {
    const filtered = { ...PASS, skip: "test name does not match pattern" };
    assert.deepEqual(tallyEvent(filtered, ci), EMPTY_TALLY);
  });
});

describe("counting tests of Playwright", () => {
  const spec = (status: string, annotations: object[] = []) => ({ title: "a sale", tests: [{ status, annotations }] });
  const report = (...specs: object[]) => ({ suites: [{ suites: [{ specs }] }], errors: [] });

  it("counts nested cases by their outcome", () => {
    assert.deepEqual(counts(tallyPlaywright(report(spec("expected"), spec("unexpected")), true)), [1, 1, 0]);
  });

  it("passes a test that passed on a second try, and says so", () => {
    const tally = tallyPlaywright(report(spec("flaky")), true);
    assert.deepEqual(counts(tally), [1, 0, 0]);
    assert.deepEqual(tally.remarks, ["passed on a second try: a sale"]);
  });

  it("fails a skip in CI by the same rule", () => {
    const allowed = [{ type: "skip", description: "not applicable: no touch screen" }];
    assert.deepEqual(counts(tallyPlaywright(report(spec("skipped")), true)), [0, 1, 0]);
    assert.deepEqual(counts(tallyPlaywright(report(spec("skipped", allowed)), true)), [0, 0, 1]);
  });

  it("counts an error outside of tests as a failure", () => {
    assert.deepEqual(counts(tallyPlaywright({ suites: [], errors: [{ message: "no config" }] }, true)), [0, 1, 0]);
  });
});

describe("the last line", () => {
  it("says what passed and failed in all stages, and nothing else", () => {
    const tally = addTallies([
      { passed: 2, failed: 0, skips: [{ name: "a sale", reason: "no Redis" }], notChecked: ["c"], remarks: ["a"] },
      { passed: 3, failed: 1, skips: [], notChecked: [], remarks: ["b"] },
    ]);
    assert.equal(lastLine(tally), "5 passed, 1 failed");
    assert.deepEqual(tally.remarks, ["a", "b"]);
    assert.deepEqual(tally.notChecked, ["c"]);
  });
});

describe("the summary", () => {
  it("says of each reason which tests were left out for it", () => {
    const skips = ["x", "y", "z"].map((name) => ({ name, reason: name === "y" ? "no Redis" : "no token" }));
    const lines = skipLines({ ...EMPTY_TALLY, skips });
    assert.deepEqual(lines, ["2 skipped, no token:", "  x", "  z", "1 skipped, no Redis:", "  y"]);
  });
});
