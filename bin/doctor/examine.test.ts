import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { self } from "../shared/process-identity.mjs";
import type { LabState } from "../supervisor/state";
import { findingOfLab } from "./examine";

const FIX = "npm start, or npm run lab -- down to stop it";
const LIVE: LabState = {
  version: 1,
  instance: "main",
  status: "ready",
  supervisor: self(),
  startedAtEpochMs: 1,
  commit: "abc",
  steps: [],
  dashboardUrl: "http://127.0.0.1:3000",
  nodes: [],
  env: {},
  missing: {},
  processes: [],
  failed: [],
  error: null,
};
const redis = { name: "redis", ...self(), logFile: "/logs/redis.log", restarts: 0 };

describe("what doctor says of the lab", () => {
  it("is nothing to fix if the lab is down, or up with all processes", () => {
    assert.deepEqual(findingOfLab(null, []), { name: "lab", status: "ok", detail: "down" });
    const detail = "ready, http://127.0.0.1:3000";
    assert.deepEqual(findingOfLab({ ...LIVE, processes: [redis] }, []), { name: "lab", status: "ok", detail });
  });

  it("names a process that was given up, its reason, its log and the command that starts it", () => {
    const reason = "node-2 exited 6 times in 60 s, last with exit code 3. The lab tries to start it every 30 s.";
    const finding = findingOfLab({ ...LIVE, failed: [{ name: "node-2", reason, logFile: "/logs/node-2.log" }] }, []);
    const detail = `ready, http://127.0.0.1:3000. ${reason} Log: /logs/node-2.log`;
    assert.deepEqual(finding, { name: "lab", status: "missing", detail, fix: FIX });
  });

  it("names a process that does not run although the state lists it", () => {
    const { status, detail } = findingOfLab({ ...LIVE, processes: [{ ...redis, start: "another start" }] }, []);
    assert.deepEqual(
      [status, detail],
      ["missing", "ready, http://127.0.0.1:3000. redis is not running. Log: /logs/redis.log"],
    );
  });

  it("names the processes that run without a supervisor", () => {
    const detail = "its supervisor was killed, and nothing restarts redis";
    assert.deepEqual(findingOfLab(null, [redis]), { name: "lab", status: "missing", detail, fix: FIX });
  });
});
