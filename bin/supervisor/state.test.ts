import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { self } from "../shared/process-identity.mjs";
import { instancePaths } from "./paths";
import { type LabState, readLiveState, readState, writeState } from "./state";

let root = "";
before(() => {
  root = mkdtempSync(path.join(tmpdir(), "state-"));
});
after(() => rmSync(root, { recursive: true, force: true }));

const READY: LabState = {
  version: 1,
  instance: "a",
  status: "ready",
  supervisor: self(),
  startedAtEpochMs: 1,
  commit: "abc",
  steps: [{ name: "Redis", status: "done", detail: "7.0", durationMs: 3 }],
  dashboardUrl: "http://127.0.0.1:3000",
  nodes: [{ name: "node-1", url: "http://127.0.0.1:3001" }],
  env: { DATABASE_URL: "postgresql://lab@127.0.0.1/lab" },
  missing: { etcd: "not installed; fix" },
  processes: [],
  failed: [],
  error: null,
};

describe("a lab's state file", () => {
  it("keeps what was written, readable by its owner only", () => {
    const paths = instancePaths("a", root);
    writeState(paths, READY);
    assert.deepEqual(readState(paths), READY);
    assert.equal(statSync(paths.stateFile).mode & 0o077, 0);
  });

  it("is live while its supervisor runs, and not when another process has that pid", () => {
    const paths = instancePaths("b", root);
    writeState(paths, READY);
    assert.equal(readLiveState(paths)?.status, "ready");
    writeState(paths, { ...READY, supervisor: { pid: process.pid, start: "another" } });
    assert.equal(readLiveState(paths), null);
    assert.equal(readState(paths)?.supervisor.start, "another", "the state still lists what to clean up");
  });

  it("is not live after a stop", () => {
    const paths = instancePaths("c", root);
    writeState(paths, { ...READY, status: "stopped" });
    assert.equal(readLiveState(paths), null);
  });

  it("is ignored if it is absent, damaged or of another version", () => {
    const paths = instancePaths("d", root);
    assert.equal(readState(paths), null);
    mkdirSync(paths.dir, { recursive: true });
    writeFileSync(paths.stateFile, '{"version": 1');
    assert.equal(readState(paths), null);
    writeFileSync(paths.stateFile, JSON.stringify({ ...READY, version: 2 }));
    assert.equal(readState(paths), null);
  });

  it("rejects an instance name that would leave its folder", () => {
    assert.throws(() => instancePaths("../main", root), /is not an instance name/);
    assert.throws(() => instancePaths("", root), /is not an instance name/);
  });
});
