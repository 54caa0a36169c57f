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

describe("tallyEvent", () => {
  it("counts tests, but not suites or tests that failed only through their subtests", () => {
    assert.deepEqual(counts(tallyEvent(PASS, local)), [1, 0, 0]);
    assert.deepEqual(counts(tallyEvent({ ...PASS, outcome: "fail" }, local)), [0, 1, 0]);
    assert.deepEqual(tallyEvent({ ...PASS, isSuite: true }, local), EMPTY_TALLY);
    const parent = { ...PASS, outcome: "fail", failureType: "subtestsFailed" } as const;
    assert.deepEqual(tallyEvent(parent, local), EMPTY_TALLY);
  });

  it("counts a crashed file and a file without tests as failures", () => {
    const file = { ...PASS, name: "/lab/a.test.ts" };
    assert.deepEqual(counts(tallyEvent({ ...file, outcome: "fail" }, local)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent(file, local)), [0, 1, 0]);
  });

  it("counts a skip as a failure in CI, unless the test is not applicable", () => {
    const noReason = { ...PASS, skip: true };
    const noServer = { ...PASS, skip: "no Redis" };
    const notApplicable = { ...PASS, skip: "not applicable: there is no C compiler" };
    assert.deepEqual(counts(tallyEvent(noReason, ci)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent(noServer, ci)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent({ ...PASS, todo: true }, ci)), [0, 1, 0]);
    assert.deepEqual(counts(tallyEvent(notApplicable, ci)), [0, 0, 1]);
    assert.deepEqual(counts(tallyEvent(noServer, local)), [0, 0, 1]);
  });

  it("does not count tests that a filter excluded", () => {
    const filtered = { ...PASS, skip: "test name does not match pattern" };
    assert.deepEqual(tallyEvent(filtered, ci), EMPTY_TALLY);
  });
});

describe("tallyPlaywright", () => {
  const spec = (status: string, annotations: object[] = []) => ({ title: "a sale", tests: [{ status, annotations }] });
  const report = (...specs: object[]) => ({ suites: [{ suites: [{ specs }] }], errors: [] });

  it("counts nested tests by their outcome", () => {
    assert.deepEqual(counts(tallyPlaywright(report(spec("expected"), spec("unexpected")), true)), [1, 1, 0]);
  });

  it("counts a test that passed on a second attempt as passed, with a remark", () => {
    const tally = tallyPlaywright(report(spec("flaky")), true);
    assert.deepEqual(counts(tally), [1, 0, 0]);
    assert.deepEqual(tally.remarks, ["passed on a second attempt: a sale"]);
  });

  it("applies the same rule to skips in CI", () => {
    const allowed = [{ type: "skip", description: "not applicable: no touch screen" }];
    assert.deepEqual(counts(tallyPlaywright(report(spec("skipped")), true)), [0, 1, 0]);
    assert.deepEqual(counts(tallyPlaywright(report(spec("skipped", allowed)), true)), [0, 0, 1]);
  });

  it("counts an error outside tests as a failure", () => {
    assert.deepEqual(counts(tallyPlaywright({ suites: [], errors: [{ message: "no config" }] }, true)), [0, 1, 0]);
  });
});

describe("the last line", () => {
  it("holds the passed and failed tests of all stages", () => {
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
  it("lists the skipped tests by reason", () => {
    const skips = ["x", "y", "z"].map((name) => ({ name, reason: name === "y" ? "no Redis" : "no token" }));
    const lines = skipLines({ ...EMPTY_TALLY, skips });
    assert.deepEqual(lines, ["2 skipped, no token:", "  x", "  z", "1 skipped, no Redis:", "  y"]);
  });
});
