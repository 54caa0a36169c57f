import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { RunDocument } from "./document";
import { newDocument } from "./new-document";
import { rerunRequest } from "./rerun-request";
import { runRequestSchema } from "./run-request";
import { cellKey, nextStep, sweepCells, sweepDocument } from "./sweep";
import { runDocument } from "./testing/run-fixture";

const plan = { id: "s1", repeats: 2, strategies: ["a", "b"] };

function runOf(strategy: string, repeat: number, change: Partial<RunDocument> = {}): RunDocument {
  const blank = runDocument();
  return { ...blank, strategy, config: { ...blank.config, sweep: { ...plan, repeat } }, ...change };
}

describe("a sweep", () => {
  it("interleaves its strategies", () => {
    const order = sweepCells(plan, []).map(({ strategy, repeat }) => `${strategy}${repeat}`);
    assert.deepEqual(order, ["a1", "b1", "a2", "b2"]);
  });

  it("continues with the first cell without a finished run", () => {
    const step = nextStep(sweepCells(plan, [runOf("a", 1), runOf("b", 1, { status: "failed" })]), new Set());
    assert.deepEqual([step.kind, step.kind === "open" && step.cell.strategy], ["open", "b"]);
  });

  it("follows a running run instead of opening another", () => {
    const step = nextStep(sweepCells(plan, [runOf("a", 1), runOf("b", 1, { status: "running" })]), new Set());
    assert.equal(step.kind, "follow");
  });

  it("retries a failed cell once per command", () => {
    const cells = sweepCells(plan, [runOf("a", 1, { status: "failed" })]);
    const retry = nextStep(cells, new Set());
    assert.equal(retry.kind === "open" && retry.cell.strategy, "a");
    const next = nextStep(cells, new Set([cellKey("a", 1)]));
    assert.equal(next.kind === "open" && next.cell.strategy, "b");
  });

  it("completes every cell exactly once despite failures and interruptions", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("finish", "fail", "interrupt"), { maxLength: 40 }), (events) => {
        const runs: RunDocument[] = [];
        let skipped = new Set<string>();
        for (const event of [...events, ...Array.from({ length: 8 }, () => "finish")]) {
          const step = nextStep(sweepCells(plan, runs), skipped);
          if (event === "interrupt") skipped = new Set();
          if (step.kind !== "open") continue;
          const { strategy, repeat } = step.cell;
          runs.push(runOf(strategy, repeat, { status: event === "fail" ? "failed" : "finished" }));
          if (event === "fail") skipped.add(cellKey(strategy, repeat));
        }
        const step = nextStep(sweepCells(plan, runs), new Set());
        const finished = runs.filter(({ status }) => status === "finished");
        const keys = finished.map((run) => cellKey(run.strategy, run.config.sweep?.repeat ?? 0));
        assert.equal(new Set(keys).size, keys.length, "expected no cell to finish twice");
        if (skipped.size === 0) assert.equal(step.kind, "complete");
      }),
    );
  });

  it("can be composed from any one of its runs", () => {
    const found = sweepDocument([runOf("b", 2)]);
    assert.deepEqual([found?.done, found?.total, found?.strategies], [1, 4, ["a", "b"]]);
    assert.equal(sweepDocument([]), null);
    assert.equal(sweepDocument([runDocument()]), null);
  });
});

describe("a rerun request", () => {
  const requests = fc.record({
    strategy: fc.constantFrom("none", "redis-fenced"),
    target: fc.oneof(
      fc.record({ kind: fc.constantFrom("product" as const, "coupon" as const) }),
      fc.record({ kind: fc.constant("product" as const), id: fc.integer({ min: 1, max: 99 }) }),
    ),
    stock: fc.integer({ min: 1, max: 1_000 }),
    load: fc.oneof(
      fc.record({ vus: fc.integer({ min: 1, max: 900 }) }),
      fc.record({ rate: fc.integer({ min: 1, max: 900 }), durationMs: fc.integer({ min: 500, max: 9_000 }) }),
    ),
    holdMs: fc.integer({ min: 0, max: 50 }),
    ttlMs: fc.integer({ min: 100, max: 9_000 }),
    waitTimeoutMs: fc.integer({ min: 0, max: 9_000 }),
    fencing: fc.constantFrom(undefined, false),
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    engine: fc.constantFrom("k6" as const, "builtin" as const),
  });

  it("repeats the settings and the seed of the run's document", () => {
    fc.assert(
      fc.property(requests, ({ load, fencing, ...rest }) => {
        const request = runRequestSchema.parse({
          ...rest,
          ...load,
          ...(fencing === undefined ? {} : { fencing }),
          launch: true,
        });
        const open = (body: typeof request) => {
          const target = { kind: body.target.kind, id: body.target.id ?? 7 };
          return newDocument({
            id: "r",
            request: body,
            target,
            nodes: body.nodes ?? 3,
            expected: "safe",
            versions: {},
          });
        };
        const first = open(request);
        const again = open(runRequestSchema.parse(rerunRequest(first)));
        assert.deepEqual({ ...again.config, target: again.target }, { ...first.config, target: first.target });
      }),
    );
  });
});
