import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { Command, CommanderError } from "commander";
import type { HistoryReport } from "../../lib/history/check-history";
import { printable } from "../../load-tests/lib/printable.js";
import { EXPECTED } from "../../tests/history/expected";
import { addCheckCommand } from "./check";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const caseFile = (name: string) => path.join(ROOT, "tests", "history", "cases", `${name}.ndjson`);
const EXIT_CODES = { safe: 0, unsafe: 1, inconclusive: 2 } as const;

interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command in this process: a new process takes 0.6 s. Any error exits 2, as in bin/lab.ts. */
async function check(args: readonly string[], input = ""): Promise<CommandResult> {
  let status: number | null = null;
  const stdout: string[] = [];
  const stderr: string[] = [];
  const writeErr = (text: string) => void stderr.push(text);
  const program = new Command("lab").exitOverride().configureOutput({ writeErr });
  addCheckCommand(program, {
    stdin: [input],
    workingDir: ROOT,
    stdout: (text) => void stdout.push(text),
    stderr: writeErr,
    setExitCode: (code) => {
      status = code;
    },
  });
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync(["check", ...args], { from: "user" });
  } catch (error) {
    status = 2;
    if (!(error instanceof CommanderError)) stderr.push(String(error));
  }
  return { status, stdout: stdout.join(""), stderr: stderr.join("") };
}

describe("lab check", () => {
  it("prints control characters and line breaks of a history escaped, in every format", async () => {
    const evil = "\u001b]0;title\u0007\u009b31m\u202e\nsafe  forged";
    const op = { type: "op", node: "n", host: "h", buyerId: evil, quantity: 1, invokedNs: "1", outcome: "sold" };
    const history = [
      { type: "run", runId: "r", strategy: evil, resource: evil, initial: 1, limitPerBuyer: null, hosts: 1 },
      { ...op, opId: evil, answeredNs: "2" },
      { type: "end", final: 0, orders: [], dropped: 0 },
      { type: evil },
    ];
    const text = history.map((line) => JSON.stringify(line)).join("\n");
    for (const flags of [[], ["--json"], ["--export", "porcupine"]]) {
      const { stdout, stderr } = await check(["-", ...flags], text);
      const unsafe = [...(stdout + stderr)].filter((one) => one !== "\n" && printable(one) !== one);
      assert.deepEqual(unsafe, [], `${flags}: expected no control character`);
      assert.doesNotMatch(stdout + stderr, /^safe {2}forged/m, "expected no forged line");
    }
  });

  for (const name of [
    "clean-lock",
    "clean-fenced-overlap",
    "lost-update",
    "ticket-sold-after-sold-out",
    "oversold-beside-dropped-operations",
    "broken-not-json",
    "broken-binary",
  ]) {
    it(`prints the verdict on ${name} and sets the exit code`, async () => {
      const expected = EXPECTED[name] ?? assert.fail(`expected an entry for ${name} in the table, found none`);
      const { status, stdout, stderr } = await check([caseFile(name), "--json"]);
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

  it("prints what happened, when, and which purchases were involved", async () => {
    const { status, stdout } = await check([caseFile("lost-update")]);
    assert.equal(status, 1);
    assert.match(stdout, /^unsafe {2}none on product:7, 40 units, 25 purchases in 27 lines\n/);
    assert.match(stdout, /\n {2}1 lost update\n {2}1 overlapping hold\n/);
    assert.match(
      stdout,
      /510\.000 ms {2}lost update +node-2 read 17, node-1 read 17, both wrote 16\. {2}\[op-24, op-25\]/,
    );
  });

  it("reads standard input, and resolves a path against the user's working directory", async () => {
    assert.equal((await check(["-"], readFileSync(caseFile("clean-lock"), "utf8"))).status, 0);
    assert.equal((await check(["tests/history/cases/clean-lock.ndjson"])).status, 0);
  });

  it("exits 2 for a missing file, a directory, an empty input and a wrong flag", async () => {
    const missing = await check(["no/such/file", "--json"]);
    assert.equal(missing.status, 2);
    const { findings } = JSON.parse(missing.stdout) as HistoryReport;
    assert.deepEqual(
      findings.map(({ kind }) => kind),
      ["unreadableFile"],
    );
    assert.match(findings[0]?.sentence ?? "", /ENOENT/);
    assert.equal((await check([ROOT])).status, 2);
    assert.equal((await check(["-"], "")).status, 2);
    assert.equal((await check([caseFile("clean-lock"), "--export", "tla"])).status, 2);
    assert.equal((await check([])).status, 2);
  });

  it("writes an export to a file or standard output, and fails if the history has no grant", async () => {
    const out = path.join(mkdtempSync(path.join(tmpdir(), "lab-check-")), "lock.json");
    assert.equal((await check([caseFile("overlapping-holds"), "--export", "porcupine", "--out", out])).status, 0);
    const example = path.join(ROOT, "docs", "history-examples", "two-holders");
    assert.equal(readFileSync(out, "utf8"), readFileSync(`${example}.porcupine.json`, "utf8"));
    const { stdout } = await check([caseFile("overlapping-holds"), "--export", "knossos"]);
    assert.equal(stdout, readFileSync(`${example}.knossos.edn`, "utf8"));
    const noGrant = await check([caseFile("undersold"), "--export", "porcupine"]);
    assert.equal(noGrant.status, 2);
    assert.match(noGrant.stderr, /The history records no grant/);
    const incomplete = await check([caseFile("broken-no-end"), "--export", "porcupine"]);
    assert.equal(incomplete.status, 2);
    assert.match(incomplete.stderr, /no line of type end/);
  });
});
