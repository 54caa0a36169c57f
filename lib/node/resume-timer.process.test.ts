import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { waitUntil } from "../../tests/support/wait-until";

const run = promisify(execFile);

/** First letter of the state that `ps` reports: T for a stopped process. */
async function stateOf(pid: number): Promise<string> {
  const { stdout } = await run("ps", ["-o", "state=", "-p", String(pid)]);
  return stdout.trim().slice(0, 1);
}

describe("startResumeTimer", () => {
  it("resumes a stopped process after the process group that started the timer was killed", async () => {
    const victim = spawn("sleep", ["600"], { stdio: "ignore" });
    const pid = victim.pid ?? 0;
    try {
      // Like a store node, this process leads its own process group.
      const timer = JSON.stringify(fileURLToPath(new URL("./resume-timer.ts", import.meta.url)));
      const script = `import(${timer}).then(({ startResumeTimer }) => {
        if (!startResumeTimer(${pid}, 6000)) process.exit(1);
        process.kill(${pid}, "SIGSTOP");
        console.log("stopped");
        setInterval(() => {}, 1000);
      });`;
      const args = ["--import", "tsx", "-e", script];
      const node = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
      await once(node.stdout, "data");
      process.kill(-(node.pid ?? 0), "SIGKILL");
      // The victim stops when the kernel next schedules it.
      await waitUntil(async () => (await stateOf(pid)) === "T", { what: "the victim to stop", withinMs: 5_000 });
      await waitUntil(async () => (await stateOf(pid)) !== "T", { what: "the victim to run again", withinMs: 15_000 });
    } finally {
      victim.kill("SIGKILL");
    }
  });
});
