import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { baseEnvironment, runChild } from "./child";
import { chooseEngine, createEngines } from "./choose";
import { createK6Engine, parseK6Version } from "./k6";
import { engineLimitMs, requestTimeoutMs } from "./limits";

const rootDir = process.cwd();

describe("k6 engine", () => {
  it("parses the version that k6 prints", () => {
    assert.equal(parseK6Version("k6 v2.2.0 (go1.26.8, linux/amd64)\n"), "k6 v2.2.0");
    assert.equal(parseK6Version("k6 v2.3.0-rc1 (commit/abc)\n"), "k6 v2.3.0-rc1");
    assert.equal(parseK6Version("v20.20.2\n"), null);
  });

  it("says how to fix a missing binary", async () => {
    const found = await createK6Engine({ binary: "/nowhere/k6", rootDir }).detect();
    assert.equal(found.available, false);
    assert.match(found.reason ?? "", /\/nowhere\/k6 cannot be run \(ENOENT\).*npm run k6/);
  });

  it("does not accept another program as k6", async () => {
    const found = await createK6Engine({ binary: process.execPath, rootDir }).detect();
    assert.equal(found.available, false);
  });

  it("is replaced by the built-in generator if k6 is missing, with a note", async () => {
    const choice = await chooseEngine("k6", createEngines({ k6Binary: "/nowhere/k6", rootDir }));
    assert.equal(choice.engine.id, "builtin");
    assert.match(choice.version, /^builtin/);
    assert.match(choice.note ?? "", /built-in generator is used: \/nowhere\/k6/);
  });
});

describe("time limits of a load", () => {
  const config = {
    stock: 1,
    vus: 1,
    rate: null,
    durationMs: null,
    holdMs: 5,
    ttlMs: 5_000,
    waitTimeoutMs: 10_000,
    nodes: 3,
    engine: "k6",
    seed: 1,
  };

  it("include the wait for the lock and the work", () => {
    assert.ok(requestTimeoutMs(config) > config.waitTimeoutMs + config.holdMs);
  });

  it("grow with the length of an arrival-rate run", () => {
    const longer = engineLimitMs({ ...config, vus: null, rate: 10, durationMs: 60_000 });
    const shorter = engineLimitMs({ ...config, vus: null, rate: 10, durationMs: 10_000 });
    assert.equal(longer - shorter, 50_000);
  });

  it("grow with the buyers who start together", () => {
    assert.equal(engineLimitMs({ ...config, vus: 20_000 }) - engineLimitMs({ ...config, vus: 500 }), 195_000);
  });
});

describe("child process of an engine", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "engine-"));
  });
  after(() => rm(folder, { recursive: true }));

  const node = (code: string, more: { limitMs?: number; signal?: AbortSignal } = {}) =>
    runChild({
      command: process.execPath,
      args: ["-e", code],
      env: baseEnvironment(),
      cwd: folder,
      logFile: join(folder, "log", "out.log"),
      limitMs: more.limitMs ?? 20_000,
      graceMs: 200,
      signal: more.signal,
    });

  it("returns the exit code and writes the output to the log", async () => {
    const result = await node("console.log('output'); process.exit(3)");
    assert.equal(result.exitCode, 3);
    assert.equal(result.stoppedBecause, null);
    assert.match(await readFile(join(folder, "log", "out.log"), "utf8"), /output/);
  });

  it("is killed if it runs longer than its limit and ignores SIGINT", async () => {
    const result = await node("process.on('SIGINT', () => {}); setInterval(() => {}, 1000)", { limitMs: 500 });
    assert.match(result.stoppedBecause ?? "", /longer than 0.5 s/);
  });

  it("is stopped by the caller's signal", async () => {
    const result = await node("setInterval(() => {}, 1000)", { signal: AbortSignal.timeout(300) });
    assert.equal(result.stoppedBecause, "it was stopped");
  });

  it("returns the reason if the program does not exist", async () => {
    const options = { args: [], env: baseEnvironment(), cwd: folder, limitMs: 1_000, graceMs: 100 };
    const result = await runChild({ ...options, command: "/nowhere/x", logFile: join(folder, "x.log") });
    assert.match(result.stoppedBecause ?? "", /could not be started/);
  });

  it("inherits no settings of the lab", () => {
    const environment = baseEnvironment({ PATH: "/bin", DATABASE_URL: "secret", NODE_ENV: "test" });
    assert.equal(environment.PATH, "/bin");
    assert.equal(environment.DATABASE_URL, undefined);
  });
});
