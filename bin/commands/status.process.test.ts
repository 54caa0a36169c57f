import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { printable } from "../../load-tests/lib/printable.js";
import { lab, outputOf } from "../../tests/integration/lab/lab-command";
import { self, startOf } from "../shared/process-identity.mjs";
import { instancePaths } from "../supervisor/paths";
import { initialState, type LabState, writeState } from "../supervisor/state";

const INSTANCE = `status-test-${process.pid}`;
const paths = instancePaths(INSTANCE);

/** The user of the commands: not root, who may write everywhere. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

const STATE: LabState = { ...initialState(INSTANCE, "abc"), status: "ready" };

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

  it("says which recorded process does not run, because a full disk keeps the supervisor from recording it", async () => {
    const server = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    const { pid = 0 } = server;
    const start = startOf(pid) ?? "";
    await once(server, "exit");
    const running = { name: "redis", ...self(), logFile: "/logs/redis.log", restarts: 0 };
    const ended = { name: "postgres", pid, start, logFile: "/logs/postgres.log", restarts: 2 };
    writeState(paths, { ...STATE, processes: [running, ended] });
    const { stdout } = await lab(["status", "--instance", INSTANCE]);
    assert.match(stdout, new RegExp(`redis +${self().pid} +0 restarts`));
    assert.match(stdout, /postgres +not running +2 restarts +\/logs\/postgres\.log/);
  });

  it("prints control sequences of a reason, a name and a server's version escaped", async () => {
    const evil = "\u001b]0;title\u0007\u009b31m\u202e";
    const failed = [{ name: `node${evil}`, reason: evil, logFile: `/logs/${evil}` }];
    const nodes = [{ name: evil, url: `http://${evil}` }];
    writeState(paths, { ...STATE, failed, nodes, commit: evil, missing: { [evil]: evil } });
    for (const flags of [[], ["--json"]]) {
      const { stdout } = await lab(["status", "--instance", INSTANCE, ...flags]);
      assert.ok(stdout.includes("\\u001b]0;title\\u0007"), stdout);
      assert.equal(stdout, printable(stdout));
    }
  });

  it("prints the message of another server escaped, as an error", async () => {
    const server = createServer((_request, response) => response.writeHead(502).end("\u001b]0;title\u0007"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stderr } = await lab(["run", "--strategy", "none\u001b[2J", "--url", url]);
    assert.equal(stderr, printable(stderr));
    const answered = await lab(["run", "--strategy", "none", "--url", url]);
    server.close();
    assert.match(answered.stderr, /Another program than the lab answered 502: \\u001b\]0;title\\u0007/);
    assert.equal(answered.stderr, printable(answered.stderr));
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

  it("advises if its folder is read-only for this user", async () => {
    mkdirSync(paths.dir, { mode: 0o555 });
    // Root may write to any folder.
    const { code, stderr } = await lab(["up", "--instance", INSTANCE, "--servers-only"], {}, UNPRIVILEGED);
    rmSync(paths.dir, { recursive: true });
    assert.equal(code, 1, stderr);
    assert.ok(stderr.includes(`The lab cannot write ${paths.dir}`), stderr);
    assert.match(stderr, /\(EACCES\).*make yourself its owner/);
    assert.doesNotMatch(stderr, /\n +at /);
  });
});
