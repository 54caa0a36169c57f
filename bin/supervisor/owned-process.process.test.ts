import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { isSameProcess } from "../shared/process-identity.mjs";
import { OwnedProcess } from "./owned-process";
import { waitFor } from "./wait-for";

/** Exits while the disk is "full", else creates a file and runs. */
const PROGRAM = `
  const { existsSync, writeFileSync } = require("node:fs");
  const [full, ready] = process.argv.slice(1);
  if (existsSync(full)) { console.error("no space left on device"); process.exit(3); }
  writeFileSync(ready, "");
  setInterval(() => {}, 1000);
`;
const BOUNDS = { timeoutMs: 30_000, pollMs: 10 };

describe("a process of the lab that keeps exiting", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "owned-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  async function startProcess(name: string, retryMs: number) {
    const [full, ready] = [path.join(folder, `${name}-full`), path.join(folder, `${name}-ready`)];
    const notes: string[] = [];
    const ordered = new Set<number>();
    const spec = {
      name,
      command: process.execPath,
      args: ["-e", PROGRAM, full, ready],
      cwd: folder,
      env: process.env,
      logFile: path.join(folder, `${name}.log`),
      readyTimeoutMs: 20_000,
      isReady: async () => existsSync(ready),
    };
    const wasOrdered = (pid: number) => ordered.delete(pid);
    const events = { onChange: () => undefined, wasOrdered, onNote: (note: string) => void notes.push(note) };
    const owned = new OwnedProcess(spec, events, { restartMs: 1, retryMs });
    await owned.startAndWait();
    const breakIt = async () => {
      writeFileSync(full, "");
      rmSync(ready);
      process.kill(owned.recorded?.pid ?? 0, "SIGKILL");
      await waitFor(() => owned.failed, { what: `${name} to be given up`, ...BOUNDS });
    };
    return { owned, notes, ordered, breakIt, repair: () => rmSync(full) };
  }

  const isRunning = (owned: OwnedProcess) => () => owned.failed === null && owned.recorded !== null;

  it("is recorded as failed with its reason and log, and runs again by itself when the cause is gone", async () => {
    const { owned, notes, breakIt, repair } = await startProcess("node-2", 50);
    await breakIt();
    assert.match(owned.failed?.reason ?? "", /^node-2 exited 6 times in 60 s, last with exit code 3\. The lab tries/);
    assert.match(readFileSync(owned.failed?.logFile ?? "", "utf8"), /no space left on device/);
    repair();
    await waitFor(isRunning(owned), { what: "the process to recover", ...BOUNDS });
    assert.equal(notes.filter((note) => note.includes("6 times")).length, 1, "expected one note about the failure");
    assert.match(notes.at(-1) ?? "", /node-2 is running again/);
    await owned.stop();
  });

  it("is not given up if the lab ends it on purpose, however often", async () => {
    const { owned, notes, ordered, breakIt, repair } = await startProcess("node-4", 3_600_000);
    for (let end = 1; end <= 8; end += 1) {
      const pid = owned.recorded?.pid ?? 0;
      ordered.add(pid);
      process.kill(pid, "SIGKILL");
      await waitFor(() => owned.recorded !== null && owned.recorded.pid !== pid, { what: "a restart", ...BOUNDS });
    }
    assert.ok(isRunning(owned)(), "expected the process to run");
    assert.deepEqual([...new Set(notes)], ["node-4 exited (SIGKILL); restarting in 1 ms"]);
    await breakIt();
    assert.match(owned.failed?.reason ?? "", /exited 6 times in 60 s/, "expected crashes to count as before");
    repair();
    await owned.stop();
  });

  it("starts at once when it is revived, and does not start after a stop", async () => {
    const { owned, breakIt, repair } = await startProcess("node-3", 3_600_000);
    await breakIt();
    repair();
    owned.revive();
    await waitFor(isRunning(owned), { what: "the revived process", ...BOUNDS });
    const running = owned.recorded;
    await owned.stop();
    owned.revive();
    assert.equal(owned.recorded, null);
    assert.equal(running !== null && isSameProcess(running), false);
  });
});
