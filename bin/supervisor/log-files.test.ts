import assert from "node:assert/strict";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { openLog, pruneLogs, rotateLog } from "./log-files";

describe("a log file", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "logs-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("can be read by its owner only, also if an earlier version created it for all", () => {
    const file = path.join(folder, "postgres.log");
    appendFileSync(file, "from before\n");
    chmodSync(file, 0o644);
    closeSync(openLog(file));
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  it("keeps its last lines in a second file when it grows too large, and its process goes on writing", () => {
    const file = path.join(folder, "node-1.log");
    const log = openLog(file);
    for (let line = 0; line < 1_000; line += 1) writeSync(log, `line ${line}\n`);
    rotateLog(file, 500);
    writeSync(log, "after\n");
    assert.equal(readFileSync(file, "utf8"), "after\n");
    const kept = readFileSync(`${file}.1`, "utf8");
    assert.equal(kept.length, 500);
    assert.match(kept, /line 998\nline 999\n$/);
    assert.equal(statSync(`${file}.1`).mode & 0o777, 0o600);
    rotateLog(file, 500);
    assert.equal(readFileSync(file, "utf8"), "after\n", "expected a small log to stay as it is");
    closeSync(log);
  });

  it("of an old run is deleted, the newest are kept", () => {
    for (const [index, name] of ["run-a.log", "run-b.log", "run-c.log", "node.log"].entries()) {
      const file = path.join(folder, name);
      appendFileSync(file, name);
      utimesSync(file, index, index);
    }
    pruneLogs(folder, 2);
    assert.deepEqual(
      readdirSync(folder)
        .filter((name) => /^run-|^node\.log$/.test(name))
        .sort(),
      ["node.log", "run-b.log", "run-c.log"],
    );
  });
});
