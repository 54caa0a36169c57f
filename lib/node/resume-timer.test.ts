import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { waitUntil } from "../../tests/support/wait-until";

const run = promisify(execFile);

/** First letter of what `ps` says: T for a process that stands still. */
async function stateOf(pid: number): Promise<string> {
  const { stdout } = await run("ps", ["-o", "state=", "-p", String(pid)]);
  return stdout.trim().slice(0, 1);
}

describe("a healer", () => {
  it("wakes a stopped process at its time, also when all that started it has been killed", async () => {
    const victim = spawn("sleep", ["600"], { stdio: "ignore" });
    const pid = victim.pid ?? 0;
    try {
      // A process that stops the victim and then hears nothing more, in a group of its own, as a store node is.
      const healer = JSON.stringify(fileURLToPath(new URL("./resume-timer.ts", import.meta.url)));
      const script = `import(${healer}).then(({ startResumeTimer }) => {
        if (!startResumeTimer(${pid}, 6000)) process.exit(1);
        process.kill(${pid}, "SIGSTOP");
        console.log("stopped");
        setInterval(() => {}, 1000);
      });`;
      const args = ["--import", "tsx", "-e", script];
      const node = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "inherit"] });
      await once(node.stdout, "data");
      process.kill(-(node.pid ?? 0), "SIGKILL");
      // It stops when it is next given the processor, which may take a moment.
      await waitUntil(async () => (await stateOf(pid)) === "T", { what: "the victim to stop", withinMs: 5_000 });
      await waitUntil(async () => (await stateOf(pid)) !== "T", { what: "the victim to run again", withinMs: 15_000 });
    } finally {
      victim.kill("SIGKILL");
    }
  });
});
