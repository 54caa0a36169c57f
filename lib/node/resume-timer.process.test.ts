import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { isStopped } from "../../tests/support/process-state";
import { waitUntil } from "../../tests/support/wait-until";

/** Like a store node, this process leads its own process group. It stops `pid`, prints a line and runs on. */
function spawnStopper(pid: number, afterMs: number): ChildProcess {
  const module = JSON.stringify(fileURLToPath(new URL("./resume-timer.ts", import.meta.url)));
  const script = `import(${module}).then(({ startResumeTimer }) => {
    if (!startResumeTimer(${pid}, ${afterMs})) process.exit(1);
    process.kill(${pid}, "SIGSTOP");
    console.log("stopped");
    setInterval(() => {}, 1000);
  });`;
  const args = ["--import", "tsx", "-e", script];
  return spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
}

/** @returns false if the timer fired before the test saw the victim stopped, so that the attempt proves nothing */
async function resumesAfterKill(afterMs: number): Promise<boolean> {
  const victim = spawn("sleep", ["600"], { stdio: "ignore" });
  const pid = victim.pid ?? 0;
  try {
    const stopper = spawnStopper(pid, afterMs);
    await once(stopper.stdout ?? stopper, "data");
    process.kill(-(stopper.pid ?? 0), "SIGKILL");
    // The victim stops when the kernel next schedules it, and the timer may resume it before this test has seen that.
    if (!isStopped(pid)) return false;
    await waitUntil(() => !isStopped(pid), { what: "the victim to run again", withinMs: 15_000 });
    return true;
  } finally {
    victim.kill("SIGKILL");
  }
}

describe("startResumeTimer", () => {
  it("resumes a stopped process after the process group that started the timer was killed", async () => {
    // The longer delays are for a machine so busy that the short timer fires too early.
    for (const afterMs of [500, 3_000, 9_000]) if (await resumesAfterKill(afterMs)) return;
    assert.fail("expected to see the victim stopped before its timer fired, found it running in all attempts");
  });
});
