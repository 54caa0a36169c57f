import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runChild } from "./run-child";

const { signal } = new AbortController();

async function runScript(script: string) {
  const printed: string[] = [];
  const output = { write: (text: string) => printed.push(text) };
  const args = ["-e", script];
  const outcome = await runChild({
    command: process.execPath,
    args,
    env: process.env,
    limitMs: 60_000,
    signal,
    output,
  });
  return { outcome, text: printed.join("") };
}

describe("runChild", () => {
  it("gives all that the program prints to the output, up to its last line", async () => {
    const { outcome, text } = await runScript(`
      for (let line = 1; line <= 50_000; line += 1) console.log(line);
      console.error("the last line");
      process.exitCode = 3;
    `);
    assert.deepEqual(outcome, { code: 3, endedBecause: null });
    assert.match(text, /^50000$/m);
    assert.match(text, /^the last line$/m);
  });

  it("does not wait for a process that left its group and holds the output open", { timeout: 30_000 }, async () => {
    const { outcome, text } = await runScript(`
      const { spawn } = require("node:child_process");
      const left = spawn("sleep", ["60"], { detached: true, stdio: "inherit" });
      left.unref();
      console.log(left.pid);
    `);
    process.kill(Number(text));
    assert.deepEqual(outcome, { code: 0, endedBecause: null });
  });
});
