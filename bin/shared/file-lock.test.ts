// @alone: it waits for timers, and other files need not wait for it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, it } from "node:test";
import { withFileLock } from "./file-lock.mjs";
import { isSameProcess, self, startOf } from "./process-identity.mjs";

let dir = "";
before(() => {
  dir = mkdtempSync(path.join(tmpdir(), "lock-"));
});
after(() => rmSync(dir, { recursive: true, force: true }));

const lockFile = (name: string) => path.join(dir, `${name}.lock`);

describe("a lock file", () => {
  it("admits one holder at a time, and every waiter in the end", async () => {
    const file = lockFile("turns");
    let inside = 0;
    let peak = 0;
    const visit = () =>
      withFileLock({ file, waitTimeoutMs: 10_000 }, async () => {
        inside += 1;
        peak = Math.max(peak, inside);
        await new Promise((resolve) => setImmediate(resolve));
        inside -= 1;
        return true;
      });
    const visits = await Promise.all(Array.from({ length: 8 }, visit));
    assert.deepEqual(
      visits,
      Array.from({ length: 8 }, () => true),
    );
    assert.equal(peak, 1);
    assert.equal(existsSync(file), false);
  });

  it("is released when the work fails", async () => {
    const file = lockFile("failing");
    const work = () => Promise.reject(new Error("no luck"));
    await assert.rejects(withFileLock({ file, waitTimeoutMs: 1_000 }, work), /no luck/);
    assert.equal(existsSync(file), false);
  });

  it("is taken over from a dead holder", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    const pid = child.pid ?? assert.fail("no process");
    const start = startOf(pid);
    const file = lockFile("dead");
    writeFileSync(file, JSON.stringify({ pid, start }));
    const lock = { file, waitTimeoutMs: 300 };
    await assert.rejects(
      withFileLock(lock, async () => "early"),
      new RegExp(`process ${pid} has held`),
    );
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.equal(await withFileLock({ ...lock, waitTimeoutMs: 10_000 }, async () => "in"), "in");
  });

  it("is taken over if another process has the dead holder's pid", async () => {
    const file = lockFile("stranger");
    writeFileSync(file, JSON.stringify({ pid: process.pid, start: "another start" }));
    assert.equal(await withFileLock({ file, waitTimeoutMs: 10_000 }, async () => "in"), "in");
  });

  it("is taken over if it stays incomplete, but not while its holder may still be writing it", async () => {
    const file = lockFile("half");
    writeFileSync(file, "{");
    // In the future, so that a delay of this process cannot make the file look old.
    const laterOn = new Date(Date.now() + 60_000);
    utimesSync(file, laterOn, laterOn);
    await assert.rejects(
      withFileLock({ file, waitTimeoutMs: 300 }, async () => "early"),
      /another process has held/,
    );
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(file, longAgo, longAgo);
    assert.equal(await withFileLock({ file, waitTimeoutMs: 10_000 }, async () => "in"), "in");
  });

  it("reports once which process it waits for", async () => {
    const file = lockFile("reported");
    const reported: number[] = [];
    writeFileSync(file, JSON.stringify(self()));
    const lock = { file, waitTimeoutMs: 350, onWait: (pid: number) => reported.push(pid) };
    await assert.rejects(
      withFileLock(lock, async () => "early"),
      /has held/,
    );
    assert.deepEqual(reported, [process.pid]);
    assert.equal(JSON.parse(readFileSync(file, "utf8")).pid, process.pid, "a live holder keeps its lock");
  });
});

describe("a process's identity", () => {
  it("matches the process itself and no other process with its pid", () => {
    assert.equal(isSameProcess(self()), true);
    assert.equal(isSameProcess({ pid: process.pid, start: "earlier" }), false);
  });

  it("is null for a process that has exited", async () => {
    const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    const pid = child.pid ?? assert.fail("no process");
    await once(child, "exit");
    assert.equal(startOf(pid), null);
    assert.equal(startOf(-1), null);
  });
});
