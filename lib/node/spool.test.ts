import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { Spool } from "./spool";
import type { SpoolSource } from "./spool-writer";

function sourceOf(lines: readonly string[]): SpoolSource {
  return {
    get size() {
      return lines.length;
    },
    text: (from, limit) =>
      lines
        .slice(from, from + limit)
        .map((line) => `${line}\n`)
        .join(""),
  };
}

describe("Spool", () => {
  const root = mkdtempSync(join(tmpdir(), "spool-"));
  after(() => rmSync(root, { recursive: true }));
  let dir = "";
  beforeEach(() => {
    dir = mkdtempSync(join(root, "node-"));
  });
  const fileOf = (runId: string, instance: string) => join(dir, `${runId}~${instance}.ndjson`);

  it("returns the operations of an instance that ended, and says that none is missing", async () => {
    const lines: string[] = [];
    const writer = new Spool(dir, "1.a").open("run-1", sourceOf(lines));
    assert.ok(writer);
    lines.push('{"opId":"a"}', '{"opId":"b"}');
    writer.wake();
    await writer.end();
    assert.deepEqual(new Spool(dir, "2.b").recover("run-1"), {
      ndjson: '{"opId":"a"}\n{"opId":"b"}\n',
      incomplete: 0,
      stops: [],
    });
    assert.equal(new Spool(dir, "2.b").recover("run-2"), null);
    assert.equal(new Spool(dir, "1.a").recover("run-1"), null, "an instance must not return its own operations twice");
  });

  it("writes recorded operations without an end of the run", async () => {
    const lines = Array.from({ length: 1_200 }, (_, index) => `{"opId":"${index}"}`);
    const writer = new Spool(dir, "1.a").open("run-1", sourceOf(lines));
    assert.ok(writer);
    writer.wake();
    while (new Spool(dir, "2.b").recover("run-1")?.ndjson !== `${lines.join("\n")}\n`) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    await writer.stop();
  });

  it("drops a line that was cut off, and counts every instance that was killed", () => {
    const spool = new Spool(dir, "4.d");
    spool.open("run-1", sourceOf([]));
    writeFileSync(fileOf("run-1", "1.a"), '{"opId":"a"}\n{"opI');
    writeFileSync(fileOf("run-1", "2.b"), "");
    writeFileSync(fileOf("run-1", "3.c"), "end\n");
    assert.deepEqual(spool.recover("run-1"), { ndjson: '{"opId":"a"}\n', incomplete: 2, stops: [] });
  });

  it("returns all operations of an instance that kept its last words, and the outcomes of its stops", () => {
    writeFileSync(fileOf("run-1", "1.a"), '{"opId":"a"}\n{"opI');
    const stops = [{ status: "killed", atNs: "5", instance: "1.a", holderId: null, buyerId: null }] as const;
    new Spool(dir, "1.a").keepLastWords("run-1", { ndjson: '{"opId":"a"}\n{"opId":"b"}\n', stops });
    const next = new Spool(dir, "2.b");
    assert.deepEqual(next.recover("run-1"), { ndjson: '{"opId":"a"}\n{"opId":"b"}\n', incomplete: 0, stops });
    writeFileSync(fileOf("run-1", "2.b"), "");
    assert.equal(
      new Spool(dir, "3.c").recover("run-1")?.incomplete,
      1,
      "expected the second instance to be incomplete",
    );
    next.forget("run-1");
    assert.deepEqual(readdirSync(dir), []);
  });

  it("says that operations are missing once a file cannot be written", async () => {
    const writer = new Spool(dir, "1.a").open("run-1", sourceOf(['{"opId":"a"}']));
    assert.ok(writer);
    rmSync(dir, { recursive: true });
    await writer.end();
    assert.equal(new Spool(dir, "2.b").recover("run-1"), null);
  });

  it("keeps the files of the newest runs only", () => {
    for (const [index, runId] of ["run-1", "run-2", "run-3"].entries()) {
      writeFileSync(fileOf(runId, "1.a"), "");
      utimesSync(fileOf(runId, "1.a"), index, index);
    }
    writeFileSync(join(dir, "notes.txt"), "not a run");
    new Spool(dir, "2.b").keepNewest(2);
    assert.deepEqual(readdirSync(dir).sort(), ["notes.txt", "run-2~1.a.ndjson", "run-3~1.a.ndjson"]);
  });

  it("keeps no file of a run whose name is not a file name", () => {
    assert.equal(new Spool(dir).open("../run", sourceOf([])), null);
  });
});
