import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { it } from "node:test";
import { runCommand } from "../commands";
import { movableClock, moveClock, whyNoMovableClock } from "./movable-clock";

const HOUR_MS = 3_600_000;

it("a process's wall clock moves by the offset while it runs, and is right again after its deadline", async (t) => {
  assert.equal(whyNoMovableClock(), null, "this test needs a C compiler");
  const dir = await mkdtemp(path.join(tmpdir(), "flash-sale-lab-clock-"));
  t.after(() => rm(dir, { recursive: true, force: true }));
  assert.equal(await moveClock(dir, { offsetMs: HOUR_MS, forMs: HOUR_MS }), false, "expected no clock to move yet");

  const env = await movableClock(dir);
  const hoursAhead = async () => {
    const { stdout } = await runCommand("date", ["+%s"], { env, timeoutMs: 10_000 });
    return String(Math.round((Number(stdout) * 1_000 - Date.now()) / HOUR_MS) + 0);
  };
  assert.equal(await hoursAhead(), "0");
  assert.equal(await moveClock(dir, { offsetMs: 2 * HOUR_MS, forMs: HOUR_MS }), true);
  assert.equal(await hoursAhead(), "2");
  await moveClock(dir, { offsetMs: 2 * HOUR_MS, forMs: -1 });
  assert.equal(await hoursAhead(), "0", "expected the jump to end by itself");
});
