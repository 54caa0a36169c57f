import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { StockStrategy } from "../stock/types";
import { NodeStops } from "./node-stops";
import { Spool } from "./spool";
import { StoreNode } from "./store-node";

const RUN = {
  runId: "run-1",
  strategy: "of-run",
  target: { kind: "product", id: 1 },
  holdMs: 5,
  ttlMs: 6_000,
  waitTimeoutMs: 700,
} as const;

describe("a store node that a fault kills", () => {
  const dir = mkdtempSync(join(tmpdir(), "killed-"));
  after(() => rmSync(dir, { recursive: true }));

  /** A process instance of the node. */
  function start(instance: string, onKill = () => {}) {
    const node = new StoreNode({
      name: "node-1",
      activeStrategy: "of-shop",
      createStrategy: (id) => ({ id }) as unknown as StockStrategy,
      defaults: { holdMs: 1, ttlMs: 2_000, waitTimeoutMs: 300 },
      stops: new NodeStops({ pause: () => {}, kill: onKill }),
      spool: new Spool(dir, instance),
    });
    node.assign(RUN, true);
    return node;
  }

  it("leaves its history whole: its next process returns the purchases in flight with an unknown outcome", () => {
    let kills = 0;
    const node = start("1.a", () => {
      kills += 1;
    });
    const run = node.run("run-1");
    assert.ok(run);
    const [answered, holder] = [node.newTrace(), { ...node.newTrace(), waitNs: 1n, grantedNs: 2n, holderId: "h-1" }];
    run.recorder.record(answered, { buyerId: "buyer-1", quantity: 1, outcome: "sold_out" });
    run.meter.begin(holder, { buyerId: "buyer-2", quantity: 3, idempotencyKey: "key-2" });
    node.armStop("run-1", { point: "before-write", atMs: 0, durationMs: null });
    node.stops.beforeWrite({ runId: "run-1", buyerId: "buyer-2", trace: holder });
    assert.equal(kills, 1);

    const next = start("2.b");
    const lines = [...(next.history("run-1") ?? [])].join("").trim().split("\n");
    const kept = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(
      kept.map(({ buyerId, quantity, outcome, idempotencyKey, holderId }) => [
        buyerId,
        quantity,
        outcome,
        idempotencyKey,
        holderId,
      ]),
      [
        ["buyer-1", 1, "sold_out", undefined, undefined],
        ["buyer-2", 3, "unknown", "key-2", "h-1"],
      ],
    );
    const stats = next.stats("run-1");
    assert.deepEqual([stats?.incompleteInstances, stats?.counts.requests, stats?.counts.unknown], [0, 2, 1]);
    assert.equal(next.stops.outcomes("run-1")[0]?.status, "killed");
  });
});
