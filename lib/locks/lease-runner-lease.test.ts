import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import type { HandleContext, LockHandle } from "./lease-backend";
import { LeaseRunner } from "./lease-runner";
import {
  code,
  type RunnerBench,
  request,
  resource,
  settlingInTurn,
  setUpBench,
  USABLE_LEASE_MS,
} from "./testing/runner-bench";
import { seededRandom } from "./testing/seeded-random";

let clock: RunnerBench["clock"];
let server: RunnerBench["server"];
let incidents: RunnerBench["incidents"];
let runner: RunnerBench["runner"];

beforeEach(() => {
  ({ clock, server, incidents, runner } = setUpBench());
});

describe("a lease", () => {
  it("is counted from before the request was sent", async () => {
    server.replyDelayMs = 99;
    const call = runner({ watchdog: false }).runGuarded(request, async ({ signal }) => {
      await clock.sleep(10_000, signal);
      return clock.nowMs();
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed");
    assert.equal(outcome.value, USABLE_LEASE_MS);
    assert.equal(outcome.lease, "lost");
  });

  it("is not renewed while a failpoint says so for its resource", async () => {
    const hold = async (renewed: string) => {
      const renewsLease = (name: string) => name === renewed;
      const lock = new LeaseRunner(server.backend(), { clock, random: seededRandom(1), renewsLease });
      const call = lock.runGuarded(request, ({ signal }) => clock.sleep(2 * request.ttlMs, signal));
      const outcome = await clock.settle(call);
      return outcome.status === "completed" && outcome.lease;
    };
    assert.deepEqual([await hold(resource), await hold("another")], ["held", "lost"]);
  });

  it("that has expired when the reply arrives is released and not granted", async () => {
    server.replyDelayMs = 298;
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => assert.fail("granted"));
    assert.equal((await clock.settle(call)).status, "contended");
    assert.equal(server.callsOf("release").length, 1);
  });

  it("that is granted after the runner stopped waiting is released", async () => {
    server.replyDelayMs = 5_000;
    const call = runner({ tryLimitMs: 100 }).runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    await clock.advance(20_000);
    assert.deepEqual(
      server.calls.map(({ kind }) => kind),
      ["try", "release", "release"],
    );
    assert.deepEqual(
      incidents.map(({ kind }) => kind),
      ["release_failed", "late_grant_released", "release_failed"],
    );
    assert.equal(clock.pendingTimers, 0);
  });

  it("is renewed every third of its length while the section runs", async () => {
    const outcome = await clock.settle(runner().runGuarded(request, () => clock.sleep(3_000)));
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
    const gaps = server.callsOf("renew").map(({ atMs }, index, all) => atMs - (all[index - 1]?.atMs ?? 0));
    assert.ok(gaps.length > 25 && gaps.every((gap) => gap > 95 && gap < 110), gaps.join(" "));
    assert.equal(clock.pendingTimers, 0);
  });

  it("that the server has lost is reported at the next renewal", async () => {
    const call = runner().runGuarded(request, async ({ signal }) => {
      server.forget(resource);
      await clock.sleep(10_000, signal);
      return clock.nowMs();
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.lease === "lost" && outcome.value < 110);
    assert.deepEqual(
      incidents.map(({ kind }) => kind),
      ["lease_lost"],
    );
  });

  it("tells the section how much of it is left, also after it has ended", async () => {
    const left: number[] = [];
    const call = runner({ watchdog: false }).runGuarded(request, async ({ leaseLeftMs }) => {
      left.push(leaseLeftMs());
      await clock.sleep(100);
      left.push(leaseLeftMs());
      await clock.sleep(400);
      left.push(leaseLeftMs());
    });
    await clock.settle(call);
    assert.deepEqual(left, [300, 200, -200]);
  });

  it("has all of its length left after each renewal, and never ends if no clock ends the hold", async () => {
    const read = (lock: ReturnType<RunnerBench["runner"]>) =>
      clock.settle(lock.runGuarded(request, ({ leaseLeftMs }) => clock.sleep(1_000).then(leaseLeftMs)));
    const renewed = await read(runner());
    assert.ok(renewed.status === "completed" && renewed.value > 190, JSON.stringify(renewed));
    const endless = await read(runner({}, server.backend({ leaseKind: "session" })));
    assert.ok(endless.status === "completed" && endless.value === Infinity);
    const unwatched = await read(runner({}, server.backend({ leaseKind: "unwatched" })));
    assert.ok(unwatched.status === "completed" && unwatched.value === -700, JSON.stringify(unwatched));
  });

  it("survives a renewal whose reply is lost", async () => {
    let lost = 0;
    server.losesReplyTo = (kind) => kind === "renew" && lost++ === 0;
    const outcome = await clock.settle(runner().runGuarded(request, () => clock.sleep(1_000)));
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
    assert.equal(incidents[0]?.kind, "renewal_failed");
  });

  it("is declared lost before the server expires it if no renewal succeeds", async () => {
    const call = runner().runGuarded(request, async ({ signal }) => {
      server.isDown = true;
      await clock.sleep(10_000, signal);
      return clock.nowMs();
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
    assert.equal(outcome.value, USABLE_LEASE_MS);
  });

  it("is counted from before the renewal was sent", async () => {
    server.extraDelayMs = (kind) => (kind === "renew" ? 90 : 0);
    let renewals = 0;
    server.losesReplyTo = (kind) => kind === "renew" && renewals++ > 0;
    const call = runner().runGuarded(request, async ({ signal }) => {
      await clock.sleep(10_000, signal);
      return clock.nowMs();
    });
    const outcome = await clock.settle(call);
    // Granted at 2, so renewed at 102: the reply came at 193.
    assert.ok(outcome.status === "completed");
    assert.equal(outcome.value, 102 + USABLE_LEASE_MS);
  });

  it("is reported lost before the section continues after a pause past its end", async () => {
    const call = runner().runGuarded(request, async ({ signal }) => {
      clock.freeze(1_000);
      await clock.sleep(0);
      return signal.aborted;
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
    assert.equal(server.callsOf("renew").length, 0);
  });

  it("is reported lost at once if the process was paused during a renewal until the lease expired", async () => {
    server.losesReplyTo = (kind) => kind === "renew";
    const call = runner().runGuarded(request, async (grant) => {
      await clock.sleep(110); // the renewal sent at 100 ms is under way
      clock.freeze(1_000);
      await clock.sleep(2);
      return grant.signal.aborted;
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed");
    assert.equal(outcome.value, true);
    assert.equal(outcome.lease, "lost");
    assert.equal(clock.pendingTimers, 0);
  });

  it("is reported lost if the section ended after the expiry and no timer has fired", async () => {
    const call = runner().runGuarded(request, async () => clock.freeze(1_000));
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
  });

  it("is reported lost if the section ended after the usable part, although the server still had the lock", async () => {
    // The section may have written after this time, so the reply to the release alone does not prove the hold.
    const call = runner().runGuarded(request, async () => clock.freeze(USABLE_LEASE_MS + 1 - clock.nowMs()));
    const outcome = await clock.settle(call);
    assert.equal(server.callsOf("release").length, 1);
    assert.equal(server.holderOf(resource), null);
    assert.ok(outcome.status === "completed");
    assert.equal(outcome.lease, "lost");
  });

  it("is never renewed after its release", async () => {
    // The section ends while the first renewal is pending, so a release sent at once would overtake it.
    server.extraDelayMs = (kind) => (kind === "renew" ? 40 : 0);
    const call = runner().runGuarded(request, () => clock.sleep(110));
    await clock.settle(call);
    await clock.advance(5_000);
    assert.deepEqual(
      server.calls.map(({ kind }) => kind),
      ["try", "renew", "release"],
    );
  });

  it("whose release gets no answer is left to expire, within the release limit", async () => {
    server.losesReplyTo = (kind) => kind === "release";
    const outcome = await clock.settle(runner({ releaseLimitMs: 400 }).runGuarded(request, async () => 1));
    assert.ok(outcome.status === "completed" && outcome.timings.releaseMs === 400);
    assert.equal(incidents[0]?.kind, "release_failed");
    assert.equal(clock.pendingTimers, 0);
  });

  it("bound to a session is lost when the backend reports it", async () => {
    let declareLost = (_reason: unknown) => {};
    const backend = server.backend({ leaseKind: "session" }, (context) => {
      declareLost = context.declareLost;
      return {};
    });
    const call = runner({}, backend).runGuarded(request, async ({ signal }) => {
      declareLost(new Error("session expired"));
      return signal.aborted;
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
    assert.equal(server.callsOf("renew").length, 0);
  });

  it("bound to a session that ends between the grant and the section is released, and the lock is acquired again", async () => {
    const backend = server.backend({ leaseKind: "session" });
    const createHandle = (context: HandleContext): LockHandle => {
      const handle = backend.createHandle(context);
      const isFirst = server.trySignals.length === 0;
      const onGrant = () => isFirst && context.declareLost(new Error("session expired"));
      return { ...handle, tryAcquire: (limits) => settlingInTurn(handle.tryAcquire(limits), onGrant) };
    };
    const call = runner({}, { ...backend, createHandle }).runGuarded(request, async ({ signal }) => signal.aborted);
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed");
    assert.equal(outcome.value, false, "expected a section whose hold is not lost");
    assert.deepEqual([outcome.timings.attempts, server.callsOf("release").length], [2, 2]);
  });
});
