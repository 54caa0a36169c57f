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
    it(`${name} is ${expected.verdict}`, async () => {
      const { verdict, violations, findings } = await checkHistory(createReadStream(new URL(`${name}.ndjson`, CASES)));
      const said = findings.map(({ sentence }) => sentence);
      const found = Object.fromEntries(Object.entries(violations).filter(([, count]) => count > 0));
      assert.deepEqual(found, expected.violations ?? {}, said.join("\n"));
      assert.equal(verdict, expected.verdict, said.join("\n"));
      const besides = findings.map(({ kind }) => kind).filter((kind) => !isViolation(kind));
      assert.deepEqual(besides, expected.besides ?? []);
      const { says } = expected;
      if (says)
        assert.ok(
          said.some((sentence) => says.test(sentence)),
          `${says} is said by none of\n${said.join("\n")}`,
        );
    });
  }

  it("are all in the table, and the table names no other", () => {
    const files = readdirSync(CASES).map((file) => file.replace(/\.ndjson$/, ""));
    assert.deepEqual(files.sort(), Object.keys(EXPECTED).sort());
  });

  it("plant every kind of violation at least once, and one of them alone wherever it can be alone", () => {
    const planted = Object.values(EXPECTED).map(({ violations = {} }) => Object.keys(violations));
    for (const kind of VIOLATION_KINDS) assert.ok(planted.flat().includes(kind), `${kind} is planted nowhere`);
    const alone = new Set(planted.filter((kinds) => kinds.length === 1).flat());
    const never = VIOLATION_KINDS.filter((kind) => !alone.has(kind));
    // Beyond the stock there is only what was written wrongly or below zero.
    assert.deepEqual(never, ["oversold"]);
  });

  it("explain every violation by a finding that names its operations where there are any", async () => {
    for (const name of Object.keys(EXPECTED)) {
      const judged = await checkHistory(createReadStream(new URL(`${name}.ndjson`, CASES)));
      for (const kind of VIOLATION_KINDS) {
        const findings = judged.findings.filter((finding) => finding.kind === kind);
        assert.equal(findings.length > 0, judged.violations[kind] > 0, `${name}: ${kind}`);
      }
      for (const { sentence } of judged.findings) assert.match(sentence, /^\S.*[.]$/, name);
    }
  });
});
