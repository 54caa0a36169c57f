import assert from "node:assert/strict";
import { createReadStream, readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { checkHistory } from "../../lib/history/check-history";
import { VIOLATION_KINDS } from "../../lib/history/finding";
import { EXPECTED } from "./expected";

const CASES = new URL("./cases/", import.meta.url);
const isViolation = (kind: string) => (VIOLATION_KINDS as readonly string[]).includes(kind);

describe("hand-made histories", () => {
  for (const [name, expected] of Object.entries(EXPECTED)) {
    it(`reports ${name} as ${expected.verdict}`, async () => {
      const { verdict, violations, findings } = await checkHistory(createReadStream(new URL(`${name}.ndjson`, CASES)));
      const sentences = findings.map(({ sentence }) => sentence);
      const found = Object.fromEntries(Object.entries(violations).filter(([, count]) => count > 0));
      assert.deepEqual(found, expected.violations ?? {}, sentences.join("\n"));
      assert.equal(verdict, expected.verdict, sentences.join("\n"));
      const doubts = findings.map(({ kind }) => kind).filter((kind) => !isViolation(kind));
      assert.deepEqual(doubts, expected.doubts ?? []);
      const pattern = expected.sentence;
      if (pattern)
        assert.ok(
          sentences.some((sentence) => pattern.test(sentence)),
          `expected a sentence that matches ${pattern}, found:\n${sentences.join("\n")}`,
        );
    });
  }

  it("match the table of expectations one to one", () => {
    const files = readdirSync(CASES).map((file) => file.replace(/\.ndjson$/, ""));
    assert.deepEqual(files.sort(), Object.keys(EXPECTED).sort());
  });

  it("include every kind of violation, and each one alone if it can occur alone", () => {
    const planted = Object.values(EXPECTED).map(({ violations = {} }) => Object.keys(violations));
    for (const kind of VIOLATION_KINDS)
      assert.ok(planted.flat().includes(kind), `expected a history with a violation of kind ${kind}, found none`);
    const alone = new Set(planted.filter((kinds) => kinds.length === 1).flat());
    const never = VIOLATION_KINDS.filter((kind) => !alone.has(kind));
    // An oversell needs a lost update or a negative stock.
    assert.deepEqual(never, ["oversold"]);
  });

  it("have a finding for every kind of violation that they count", async () => {
    for (const name of Object.keys(EXPECTED)) {
      const report = await checkHistory(createReadStream(new URL(`${name}.ndjson`, CASES)));
      for (const kind of VIOLATION_KINDS) {
        const findings = report.findings.filter((finding) => finding.kind === kind);
        assert.equal(findings.length > 0, report.violations[kind] > 0, `${name}: ${kind}`);
      }
      for (const { sentence } of report.findings) assert.match(sentence, /^\S.*[.]$/, name);
    }
  });
});
