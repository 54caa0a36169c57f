import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { after, describe, it } from "node:test";
import { lab, outputOf } from "../../tests/integration/lab/lab-command";
import { self, startOf } from "../shared/process-identity.mjs";
import { instancePaths } from "../supervisor/paths";
import { type LabState, writeState } from "../supervisor/state";

const INSTANCE = `status-test-${process.pid}`;
const paths = instancePaths(INSTANCE);

const STATE: LabState = {
  version: 1,
  instance: INSTANCE,
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

describe("lab status", () => {
  after(() => rmSync(paths.dir, { recursive: true, force: true }));

  it("names a process that failed, the reason, its log and the command that starts it", async () => {
    const reason = "node-2 exited 6 times in 60 s, last with exit code 3.";
    writeState(paths, { ...STATE, failed: [{ name: "node-2", reason, logFile: "/logs/node-2.log" }] });
    const { stdout } = await lab(["status", "--instance", INSTANCE]);
    assert.match(stdout, /node-2 +failed +node-2 exited 6 times in 60 s, last with exit code 3\./);
    assert.ok(stdout.includes(`npm run lab -- up --instance ${INSTANCE}`), stdout);
    assert.match(stdout, /\/logs\/node-2\.log/);
  });

  it("says that servers still run if the supervisor was killed, and `down` stops them", async () => {
    const server = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore", detached: true });
    const exited = once(server, "exit");
    const supervisor = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    const identity = ({ pid = 0 }) => ({ pid, start: startOf(pid) ?? "" });
    const redis = { name: "redis", ...identity(server), logFile: "/logs/redis.log", restarts: 0 };
    writeState(paths, { ...STATE, supervisor: identity(supervisor), processes: [redis] });
    supervisor.kill("SIGKILL");
    await once(supervisor, "exit");
    const status = await lab(["status", "--instance", INSTANCE]);
    assert.equal(status.code, 1, outputOf(status));
    assert.match(status.stdout, /has no supervisor, because it was killed\. These processes still run/);
    assert.match(status.stdout, new RegExp(`redis +${redis.pid} +/logs/redis\\.log`));
    const { stdout } = await lab(["status", "--instance", INSTANCE, "--json"]);
    assert.equal((JSON.parse(stdout) as LabState).status, "unsupervised");
    assert.match((await lab(["down", "--instance", INSTANCE])).stdout, /left running: redis/);
    await exited;
    assert.match((await lab(["status", "--instance", INSTANCE])).stdout, /is down\. Start it with/);
  });

  it("advises if the lab cannot write its folder", async () => {
    rmSync(paths.dir, { recursive: true, force: true });
    writeFileSync(paths.dir, "");
    const { code, stderr } = await lab(["up", "--instance", INSTANCE, "--servers-only"]);
    rmSync(paths.dir);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /a file is in its place.*Move that file away/);
    assert.doesNotMatch(stderr, /\n +at /);
  });
});
