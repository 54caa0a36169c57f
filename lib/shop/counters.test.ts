import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreNode } from "../node/store-node";
import type { ReconcileOptions, Reconciliation, StockDrift, StockTarget } from "../stock/types";
import { driftOf, reconcileCounters } from "./counters";
import { FakeStrategy } from "./testing/fake-strategy";
import { FakeTimers } from "./testing/fake-timers";
import { useFakes } from "./testing/use-fakes";

const PHONE = { kind: "product", id: 1 } as const;
const COUPON = { kind: "coupon", id: 2 } as const;
const RUNNING_TARGETS = /WHERE status = 'running'/;
const EXISTING = /AS resource FROM products/;
const ALL_EXIST = [{ resource: "product:1" }, { resource: "coupon:2" }];
const SHOP_TARGETS = /FROM products WHERE run_id IS NULL/;
const NOTHING: Reconciliation = { kept: 0, givenBack: 0, pending: 0, corrected: 0 };
const SETTLED: Reconciliation = { kept: 1, givenBack: 2, pending: 3, corrected: 4 };
const NO_COUNTER: StockDrift = { counter: null, stock: 10, pending: 0, drift: 0 };
const DRIFTED: StockDrift = { counter: 7, stock: 10, pending: 2, drift: -3 };

/** A strategy that keeps a counter. */
class CountingStrategy extends FakeStrategy {
  driftReply: StockDrift | Error | Promise<never> = DRIFTED;
  reconciliation: Reconciliation | Error = SETTLED;
  readonly reconciled: { target: StockTarget; options: ReconcileOptions | undefined }[] = [];

  constructor(override readonly id: string) {
    super();
  }

  async drift(): Promise<StockDrift> {
    if (this.driftReply instanceof Error) throw this.driftReply;
    return this.driftReply;
  }

  async reconcile(target: StockTarget, options?: ReconcileOptions): Promise<Reconciliation> {
    this.reconciled.push({ target, options });
    if (this.reconciliation instanceof Error) throw this.reconciliation;
    return this.reconciliation;
  }
}

class ListingStrategy extends CountingStrategy {
  targets: readonly StockTarget[] | Error = [PHONE];

  async countedTargets(): Promise<readonly StockTarget[]> {
    if (this.targets instanceof Error) throw this.targets;
    return this.targets;
  }
}

function start() {
  const redis = new ListingStrategy("redis-decrement");
  const memcached = new CountingStrategy("memcached-cas");
  const node = new StoreNode({
    name: "node-1",
    activeStrategy: "redis-decrement",
    createStrategy: (id) => (id === "memcached-cas" ? memcached : redis),
    defaults: { holdMs: 0, ttlMs: 1_000, waitTimeoutMs: 100 },
  });
  return { redis, memcached, node };
}

describe("driftOf", () => {
  useFakes({ REDIS_URL: "redis://unused", MEMCACHED_URL: "unused:1" });

  it("reports each counter that exists", async () => {
    const { memcached, node } = start();
    memcached.driftReply = NO_COUNTER;
    assert.deepEqual(await driftOf(node, PHONE), [{ keptIn: "redis", counter: 7, stock: 10, pending: 2, drift: -3 }]);
  });

  it("leaves out a server that fails", async () => {
    const { redis, node } = start();
    redis.driftReply = new Error("connection refused");
    assert.deepEqual(
      (await driftOf(node, PHONE)).map(({ keptIn }) => keptIn),
      ["memcached"],
    );
  });

  it("leaves out a server that does not answer in time", async () => {
    using timers = new FakeTimers();
    const { redis, node } = start();
    redis.driftReply = new Promise<never>(() => {});
    const drift = driftOf(node, PHONE);
    timers.advance(1_500);
    assert.deepEqual(
      (await drift).map(({ keptIn }) => keptIn),
      ["memcached"],
    );
  });
});

describe("driftOf without counter servers", () => {
  useFakes();

  it("reports nothing and creates no strategy", async () => {
    const createStrategy = () => assert.fail("expected no strategy to be created");
    const defaults = { holdMs: 0, ttlMs: 1_000, waitTimeoutMs: 100 };
    const node = new StoreNode({ name: "node-1", activeStrategy: "fake", createStrategy, defaults });
    assert.deepEqual(await driftOf(node, PHONE), []);
  });
});

describe("reconcileCounters", () => {
  const fakes = useFakes({ REDIS_URL: "redis://unused", MEMCACHED_URL: "unused:1" });

  it("settles the requested target on every server", async () => {
    const { redis, memcached, node } = start();
    const { settled, failed } = await reconcileCounters(node, { target: COUPON, olderThanMs: 500 });
    const expected = [
      { target: COUPON, keptIn: "redis", ...SETTLED },
      { target: COUPON, keptIn: "memcached", ...SETTLED },
    ];
    assert.deepEqual([settled, failed], [expected, []]);
    for (const { reconciled } of [redis, memcached]) assert.equal(reconciled[0]?.options?.olderThanMs, 500);
  });

  it("without a target, takes the counters that a server lists, else the shop's targets, each once", async () => {
    const { redis, memcached, node } = start();
    fakes.postgres.script(EXISTING, ALL_EXIST).script(SHOP_TARGETS, [PHONE, COUPON, { ...PHONE }]);
    await reconcileCounters(node);
    const targetsOf = ({ reconciled }: CountingStrategy) => reconciled.map(({ target }) => target);
    assert.deepEqual([targetsOf(redis), targetsOf(memcached)], [[PHONE], [PHONE, COUPON]]);
    assert.deepEqual(fakes.postgres.sent(SHOP_TARGETS), [["memcached-cas"]]);
  });

  it("leaves out counters whose product was deleted", async () => {
    const { redis, node } = start();
    redis.targets = [PHONE, COUPON];
    fakes.postgres.script(EXISTING, [{ resource: "coupon:2" }]).script(SHOP_TARGETS, []);
    await reconcileCounters(node);
    assert.deepEqual(
      redis.reconciled.map(({ target }) => target),
      [COUPON],
    );
  });

  it("leaves out targets of running runs only if requested", async () => {
    const { redis, memcached, node } = start();
    redis.targets = [PHONE, COUPON];
    fakes.postgres
      .script(EXISTING, ALL_EXIST)
      .script(SHOP_TARGETS, [])
      .script(RUNNING_TARGETS, [{ resource: "product:1" }]);
    await reconcileCounters(node, { skipsRunningRuns: true });
    assert.deepEqual(
      redis.reconciled.map(({ target }) => target),
      [COUPON],
    );
    await reconcileCounters(node);
    assert.equal(redis.reconciled.length, 3);
    assert.equal(memcached.reconciled.length, 0);
  });

  it("leaves out targets without a counter and without anything to settle", async () => {
    const { redis, memcached, node } = start();
    redis.driftReply = NO_COUNTER;
    redis.reconciliation = NOTHING;
    memcached.driftReply = NO_COUNTER;
    const { settled } = await reconcileCounters(node, { target: PHONE });
    assert.deepEqual(
      settled.map(({ keptIn }) => keptIn),
      ["memcached"],
    );
  });

  it("goes on with the other targets and servers if one cannot be settled, and says which", async () => {
    const { redis, memcached, node } = start();
    redis.targets = [PHONE, COUPON];
    redis.reconciliation = new Error("journal unreadable");
    fakes.postgres.script(EXISTING, ALL_EXIST).script(SHOP_TARGETS, [PHONE]);
    const { settled, failed } = await reconcileCounters(node);
    assert.deepEqual(failed, ["redis: journal unreadable", "redis: journal unreadable"]);
    assert.deepEqual(settled, [{ target: PHONE, keptIn: "memcached", ...SETTLED }]);
    assert.deepEqual([redis.reconciled.length, memcached.reconciled.length], [2, 1]);
  });

  it("goes on with the next server if one cannot list its journals", async () => {
    const { redis, node } = start();
    redis.targets = new Error("connection refused");
    fakes.postgres.script(EXISTING, ALL_EXIST).script(SHOP_TARGETS, [PHONE]);
    const { settled, failed } = await reconcileCounters(node);
    assert.deepEqual([settled.length, failed], [1, ["redis: connection refused"]]);
  });

  it("settles regardless of age only entries of earlier processes of this node", async () => {
    const { redis, node } = start();
    await reconcileCounters(node, { target: PHONE });
    const isDead = redis.reconciled[0]?.options?.isDead;
    assert.ok(isDead);
    assert.equal(isDead("node-1-999999.abc-5"), true);
    assert.equal(isDead("return:7:node-1-999999.abc-5"), true);
    assert.equal(isDead("node-2-999999.abc-5"), false);
    assert.equal(isDead(node.newTrace().opId), false);
    assert.equal(isDead("written by hand"), false);
  });
});
