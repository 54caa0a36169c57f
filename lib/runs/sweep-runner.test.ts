import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitUntil } from "../../tests/support/wait-until";
import type { RunDocument } from "./document";
import { isLabError, LabError } from "./lab-error";
import { type RunRequest, runRequestSchema } from "./run-request";
import { sweepCells } from "./sweep";
import { type SweepLab, SweepRunner } from "./sweep-runner";
import { runDocument } from "./testing/run-fixture";

const plan = { id: "s1", repeats: 2, strategies: ["a", "b"] };
const job = {
  plan,
  request: (strategy: string) => runRequestSchema.parse({ strategy, engine: "builtin", launch: true }),
};

/** A lab whose runs stay open until the test ends them. */
class FakeLab implements SweepLab {
  readonly runs: RunDocument[] = [];
  readonly stopped: string[] = [];
  /** Answers of the next calls of `open`, in place of a run. */
  readonly refusals: Error[] = [];
  endsAtOnce = true;

  async open({ strategy, sweep }: RunRequest): Promise<RunDocument> {
    const refusal = this.refusals.shift();
    if (refusal) throw refusal;
    const config = { ...runDocument().config, ...(sweep === undefined ? {} : { sweep }) };
    const id = `run-${this.runs.length + 1}`;
    this.runs.push(runDocument({ id, strategy, config, status: this.endsAtOnce ? "finished" : "running" }));
    return { ...(this.runs.at(-1) as RunDocument), status: "running" };
  }
  async read(id: string) {
    return this.runs.find((run) => run.id === id) ?? null;
  }
  async stop(id: string) {
    this.stopped.push(id);
    this.end(id, "stopped");
  }
  async cells() {
    return sweepCells(plan, this.runs);
  }
  end(id: string, status: RunDocument["status"]): void {
    const at = this.runs.findIndex((run) => run.id === id);
    this.runs[at] = { ...(this.runs[at] as RunDocument), status, sentences: [`It ${status}.`] };
  }
}

const isOver = (runner: SweepRunner) => waitUntil(() => runner.active === null, { what: "the end of the sweep" });

describe("a sweep that the lab makes", () => {
  it("makes every run once, alternating between the strategies, and then ends", async () => {
    const lab = new FakeLab();
    const runner = new SweepRunner(lab, 1);
    runner.start(job);
    assert.deepEqual(runner.active?.problems, []);
    await isOver(runner);
    assert.deepEqual(
      lab.runs.map(({ strategy, config }) => `${strategy} ${config.sweep?.repeat}`),
      ["a 1", "b 1", "a 2", "b 2"],
    );
  });

  it("rejects a second sweep while one is active", async () => {
    const lab = new FakeLab();
    lab.endsAtOnce = false;
    const runner = new SweepRunner(lab, 1);
    runner.start(job);
    assert.throws(
      () => runner.start(job),
      (error) => isLabError(error) && error.code === "sweep_active",
    );
    await runner.cancel("s1");
    await isOver(runner);
  });

  it("waits for a run that another person opened", async () => {
    const lab = new FakeLab();
    lab.refusals.push(...[1, 2, 3].map(() => new LabError("run_active", "Run x is still running.")));
    const runner = new SweepRunner(lab, 1);
    runner.start(job);
    await isOver(runner);
    assert.equal(lab.runs.length, 4);
  });

  it("notes a run that could not be made or that failed, and goes on", async () => {
    const lab = new FakeLab();
    lab.refusals.push(new LabError("node_unavailable", "node-2 does not answer."));
    lab.endsAtOnce = false;
    const runner = new SweepRunner(lab, 1);
    runner.start(job);
    await waitUntil(() => lab.runs.length === 1, { what: "the second cell's run" });
    lab.end("run-1", "failed");
    await waitUntil(() => lab.runs.length === 2, { what: "the third cell's run" });
    assert.deepEqual(runner.active?.problems, ["a, run 1: node-2 does not answer.", "b, run 1: It failed."]);
    assert.equal(runner.active?.remainingMs, null);
    lab.end("run-2", "finished");
    await waitUntil(() => runner.active?.remainingMs != null, { what: "an estimate after a finished run" });
    lab.end("run-3", "finished");
    await isOver(runner);
    assert.equal(lab.runs.length, 3);
  });

  it("stops its current run when it is cancelled, and opens no other", async () => {
    const lab = new FakeLab();
    lab.endsAtOnce = false;
    const runner = new SweepRunner(lab, 1);
    assert.equal(await runner.cancel("s1"), false);
    runner.start(job);
    await waitUntil(() => lab.runs.length === 1, { what: "the first run" });
    assert.equal(await runner.cancel("other"), false);
    assert.equal(await runner.cancel("s1"), true);
    await isOver(runner);
    assert.deepEqual([lab.runs.length, [...new Set(lab.stopped)]], [1, ["run-1"]]);
  });
});
