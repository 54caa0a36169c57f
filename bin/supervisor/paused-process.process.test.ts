import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { isStopped } from "../../tests/support/process-state";
import { startOf } from "../shared/process-identity.mjs";
import { OwnedProcess } from "./owned-process";
import { reapOrphans } from "./reaper";
import { waitFor } from "./wait-for";

/** Creates a file when it runs, and another one when it ends in order. */
const PROGRAM = `
  const { writeFileSync } = require("node:fs");
  const [ready, ended] = process.argv.slice(1);
  for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => { writeFileSync(ended, ""); process.exit(); });
  setInterval(() => {}, 1000);
  writeFileSync(ready, "");
`;
const BOUNDS = { timeoutMs: 30_000, pollMs: 10 };
/** Longer than any wait of these tests. */
const LONG_MS = 60_000;

describe("a process of the lab that a fault paused", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "paused-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  const filesOf = (name: string) => [path.join(folder, `${name}-ready`), path.join(folder, `${name}-ended`)] as const;

  async function startOwned(name: string) {
    const [ready, ended] = filesOf(name);
    const spec = {
      name,
      command: process.execPath,
      args: ["-e", PROGRAM, ready, ended],
      cwd: folder,
      env: process.env,
      logFile: path.join(folder, `${name}.log`),
      readyTimeoutMs: 20_000,
      isReady: async () => existsSync(ready),
    };
    const owned = new OwnedProcess(spec, { onChange: () => undefined, onNote: () => undefined });
    await owned.startAndWait();
    return { owned, ended, pid: owned.recorded?.pid ?? assert.fail("expected the process to run") };
  }

  it("continues at its deadline, and earlier if it is resumed", async () => {
    const { owned, pid } = await startOwned("etcd-1");
    for (const [durationMs, resume] of [
      [300, () => undefined],
      [LONG_MS, () => owned.resume()],
    ] as const) {
      owned.pause(durationMs);
      await waitFor(() => isStopped(pid), { what: "the process to be paused", ...BOUNDS });
      resume();
      await waitFor(() => !isStopped(pid), { what: "the process to continue", ...BOUNDS });
    }
    await owned.stop();
    assert.throws(() => owned.pause(300), /^Error: etcd-1 is not running$/);
  });

  it("ends in order when the lab stops it", async () => {
    const { owned, ended } = await startOwned("etcd-2");
    owned.pause(LONG_MS);
    await owned.stop();
    assert.ok(existsSync(ended), "expected the process to get the stop signal before SIGKILL");
  });

  it("ends in order when the next lab finds it", async () => {
    const [ready, ended] = filesOf("etcd-3");
    const child = spawn(process.execPath, ["-e", PROGRAM, ready, ended], { stdio: "ignore", detached: true });
    const exit = once(child, "exit");
    const pid = child.pid ?? assert.fail("expected the process to start");
    await waitFor(() => existsSync(ready), { what: "the process to run", ...BOUNDS });
    child.kill("SIGSTOP");
    await waitFor(() => isStopped(pid), { what: "the process to be paused", ...BOUNDS });
    const recorded = { name: "etcd-3", pid, start: startOf(pid) ?? "", logFile: "", restarts: 0 };
    assert.deepEqual(await reapOrphans([recorded]), ["etcd-3"]);
    await exit;
    assert.ok(existsSync(ended), "expected the process to get the stop signal before SIGKILL");
  });
});
