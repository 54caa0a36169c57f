import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { requireEnv } from "../../support/lab-env";
import { testProgram } from "../../support/test-program";

requireEnv("DATABASE_URL");

/** Lanes of this test only: claims are advisory locks of the database that it connects to. */
const LANES = 2;

/** A process that claims a lane and keeps it until its input ends. */
class Claimer implements AsyncDisposable {
  readonly #child;

  constructor() {
    const { file, execArgv } = testProgram("tests/support/claim-lane-main.ts");
    const stdio = ["pipe", "pipe", "inherit"] as ["pipe", "pipe", "inherit"];
    this.#child = spawn(process.execPath, [...execArgv, file, String(LANES)], { stdio });
  }

  /** @returns the database that it claimed */
  async claimed(): Promise<string> {
    const [line] = (await once(this.#child.stdout, "data", { signal: AbortSignal.timeout(30_000) })) as [Buffer];
    return String(line).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.stdin.end();
    await exit;
  }
}

describe("the databases of integration tests", () => {
  it("go to one process each, and to the next one when that process exits", async () => {
    await using one = new Claimer();
    const first = await one.claimed();
    await using two = new Claimer();
    const second = await two.claimed();
    assert.deepEqual([first, second].map((name) => name.slice(-7)).sort(), ["_lane_1", "_lane_2"]);
    await using three = new Claimer();
    const third = three.claimed();
    await one[Symbol.asyncDispose]();
    assert.equal(await third, first);
  });
});
