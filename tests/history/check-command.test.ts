import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import type { HistoryReport } from "../../lib/history/check-history";
import { EXPECTED } from "./expected";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const caseFile = (name: string) => path.join(ROOT, "tests", "history", "cases", `${name}.ndjson`);
const EXIT_CODES = { safe: 0, unsafe: 1, inconclusive: 2 } as const;

/** The command as people run it. */
function check(args: readonly string[], input?: string): SpawnSyncReturns<string> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawnSync(process.execPath, [path.join(ROOT, "bin", "bootstrap.mjs"), "check", ...args], {
    encoding: "utf8",
    env: { ...env, INIT_CWD: ROOT },
    timeout: 60_000,
    ...(input === undefined ? {} : { input }),
  });
}

describe("lab check", () => {
  for (const name of [
    "clean-lock",
    "clean-fenced-overlap",
    "lost-update",
    "ticket-sold-after-sold-out",
    "oversold-beside-dropped-operations",
    "broken-not-json",
    "broken-binary",
  ]) {
    it(`prints the verdict on ${name} and exits by it`, () => {
      const expected = EXPECTED[name] ?? assert.fail();
      const { status, stdout, stderr } = check([caseFile(name), "--json"]);
      assert.equal(status, EXIT_CODES[expected.verdict], stderr);
      const { verdict, violations, findings } = JSON.parse(stdout) as HistoryReport;
      assert.equal(verdict, expected.verdict);
      const found = Object.fromEntries(Object.entries(violations).filter(([, count]) => count > 0));
      assert.deepEqual(found, expected.violations ?? {});
      for (const finding of findings) {
        const { kind, opIds, atNs, sentence } = finding;
        assert.ok(kind && Array.isArray(opIds) && sentence, JSON.stringify(finding));
        if (atNs !== null) assert.match(atNs, /^\d+$/);
      }
    });
  }

  it("tells people what happened, when, and between whom", () => {
    const { status, stdout } = check([caseFile("lost-update")]);
    assert.equal(status, 1);
    assert.match(stdout, /^unsafe {2}none on product:7, 40 units, 25 purchases in 27 lines\n/);
    assert.match(stdout, /\n {2}1 lost update\n {2}1 overlapping hold\n/);
    assert.match(
      stdout,
      /510\.000 ms {2}lost update +node-2 read 17, node-1 read 17, both wrote 16\. {2}\[op-24, op-25\]/,
    );
  });

  it("reads standard input, and a path as it was typed", () => {
    assert.equal(check(["-"], readFileSync(caseFile("clean-lock"), "utf8")).status, 0);
    assert.equal(check(["tests/history/cases/clean-lock.ndjson"]).status, 0);
  });

  it("exits 2 for a file that is not there, a folder, an empty input and a wrong flag", () => {
    const missing = check(["no/such/file", "--json"]);
    assert.equal(missing.status, 2);
    const { findings } = JSON.parse(missing.stdout) as HistoryReport;
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ["unreadableFile"],
    );
    assert.match(findings[0]?.sentence ?? "", /ENOENT/);
    assert.equal(check([ROOT]).status, 2);
    assert.equal(check(["-"], "").status, 2);
    assert.equal(check([caseFile("clean-lock"), "--export", "tla"]).status, 2);
    assert.equal(check([]).status, 2);
  });

  it("writes an export to a file, or to standard output, and refuses where there is nothing to export", () => {
    const out = path.join(mkdtempSync(path.join(tmpdir(), "lab-check-")), "lock.json");
    assert.equal(check([caseFile("overlapping-holds"), "--export", "porcupine", "--out", out]).status, 0);
    const example = path.join(ROOT, "docs", "history-examples", "two-holders");
    assert.equal(readFileSync(out, "utf8"), readFileSync(`${example}.porcupine.json`, "utf8"));
    const { stdout } = check([caseFile("overlapping-holds"), "--export", "knossos"]);
    assert.equal(stdout, readFileSync(`${example}.knossos.edn`, "utf8"));
    const nothing = check([caseFile("undersold"), "--export", "porcupine"]);
    assert.equal(nothing.status, 2);
    assert.match(nothing.stderr, /The history records no grant/);
    assert.equal(check([caseFile("broken-no-end"), "--export", "porcupine"]).status, 2, "and says what is missing");
  });
});
