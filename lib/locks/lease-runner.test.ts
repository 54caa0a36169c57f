import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { isLockError } from "./errors";
import { LeaseRunner } from "./lease-runner";
import type { LockIncident, RunnerOptions } from "./runner-context";
import { FakeClock } from "./testing/fake-clock";
import { FakeLeaseServer } from "./testing/fake-lease-server";
import { seededRandom } from "./testing/seeded-random";
import type { Grant, LockRequest } from "./types";

const resource = "product:1";
const request: LockRequest = { resource, waitTimeoutMs: 1_000, ttlMs: 300 };
/** What can be relied on of a lease of 300 ms: 1 % and 2 ms are taken off for drift. */
const DEPENDABLE_MS = 295;

let clock: FakeClock;
let server: FakeLeaseServer;
let incidents: LockIncident[];

beforeEach(() => {
  clock = new FakeClock();
  server = new FakeLeaseServer(clock);
  incidents = [];
});

function runner(options: Partial<RunnerOptions> = {}, backend = server.backend()): LeaseRunner {
  const onIncident = (incident: LockIncident) => incidents.push(incident);
  return new LeaseRunner(backend, { clock, random: seededRandom(1), onIncident }, options);
}

const code = (wanted: string) => (error: unknown) => isLockError(error) && error.code === wanted;

/** Takes the lock until told otherwise. */
function occupy(lock: LeaseRunner, overrides: Partial<LockRequest> = {}) {
  let free = () => {};
  const freed = new Promise<void>((resolve) => {
    free = resolve;
  });
  const outcome = lock.runGuarded({ ...request, ...overrides }, () => freed);
  return { free, outcome };
}

describe("a call", () => {
  it("runs the section under the lock, frees it, and says how long each part took", async () => {
    const outcome = await clock.settle(
      runner().runGuarded(request, async (grant) => {
        assert.equal(server.holderOf(resource), grant.holderId);
        await clock.sleep(8);
        return "done";
      }),
    );
    assert.deepEqual(outcome, {
      status: "completed",
      value: "done",
      lease: "held",
      timings: { waitMs: 2, poolWaitMs: 0, holdMs: 8, releaseMs: 2, attempts: 1 },
    });
    assert.equal(server.holderOf(resource), null);
    assert.equal(clock.pendingTimers, 0);
  });

  it("tries once when it may not wait", async () => {
    const { free } = occupy(runner());
    await clock.advance(5);
    const outcome = await clock.settle(runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered"));
    assert.deepEqual(outcome, { status: "contended", waitedMs: 2, attempts: 1 });
    free();
  });

  it("gets a free lock although it may not wait", async () => {
    const outcome = await clock.settle(runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered"));
    assert.equal(outcome.status, "completed");
  });

  it("waits its turn and enters soon after the release", async () => {
    const lock = runner();
    const { free } = occupy(lock);
    await clock.advance(100);
    const waiting = lock.runGuarded(request, async () => clock.nowMs());
    await clock.advance(200);
    free();
    const outcome = await clock.settle(waiting);
    assert.ok(outcome.status === "completed" && outcome.value < 350, JSON.stringify(outcome));
  });

  it("gives up with `contended` when its wait is over, and leaves neither waiter nor timer", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock);
    await clock.advance(10);
    const contended = await clock.settle(lock.runGuarded(request, async () => "entered"));
    assert.ok(contended.status === "contended" && contended.attempts > 5);
    assert.ok(contended.waitedMs >= 1_000 && contended.waitedMs < 1_010, `${contended.waitedMs} ms`);
    free();
    await clock.settle(outcome);
    assert.equal(clock.pendingTimers, 0);
  });

  it("rethrows an error of the section after the release", async () => {
    const failure = new Error("out of paper");
    const call = runner().runGuarded(request, () => Promise.reject(failure));
    await assert.rejects(clock.settle(call), failure);
    assert.equal(server.callsOf("release").length, 1);
    assert.equal(server.holderOf(resource), null);
  });

  it("lets an error of the backend that is no outage through as it is", async () => {
    const bug = new TypeError("undefined is not a function");
    const backend = server.backend({}, () => ({ tryAcquire: () => Promise.reject(bug) }));
    await assert.rejects(clock.settle(runner({}, backend).runGuarded(request, async () => 1)), bug);
  });

  for (const [what, wrong] of [
    ["a resource with a slash", { resource: "a/b" }],
    ["a resource that is a path", { resource: ".." }],
    ["no resource", { resource: "" }],
    ["a negative wait", { waitTimeoutMs: -1 }],
    ["a TTL of nothing", { ttlMs: 0 }],
    ["half a millisecond", { ttlMs: 100.5 }],
  ] as const) {
    it(`refuses ${what} before it asks the server`, async () => {
      await assert.rejects(
        runner().runGuarded({ ...request, ...wrong }, async () => 1),
        code("config_invalid"),
      );
      assert.equal(server.calls.length, 0);
    });
  }
});

describe("an abort", () => {
  it("ends the wait at once and leaves no waiter", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock);
    await clock.advance(10);
    const caller = new AbortController();
    const waiting = lock.runGuarded({ ...request, signal: caller.signal }, async () => "entered");
    await clock.advance(100);
    const askedBefore = server.calls.length;
    caller.abort();
    await assert.rejects(clock.settle(waiting), code("aborted"));
    free();
    await clock.settle(outcome);
    await clock.advance(2_000);
    assert.equal(clock.pendingTimers, 0);
    assert.ok(server.callsOf("try").length <= askedBefore);
    assert.equal(server.holderOf(resource), null);
  });

  it("before the call touches no server", async () => {
    const call = runner().runGuarded({ ...request, signal: AbortSignal.abort() }, async () => 1);
    await assert.rejects(clock.settle(call), code("aborted"));
    assert.equal(server.calls.length, 0);
  });

  it("in mid-try frees what that try is granted afterwards", async () => {
    server.requestDelayMs = 50;
    const caller = new AbortController();
    const waiting = runner().runGuarded({ ...request, signal: caller.signal }, async () => "entered");
    await clock.advance(10);
    caller.abort();
    await assert.rejects(clock.settle(waiting), code("aborted"));
    await clock.advance(500);
    assert.equal(server.callsOf("try").length, 1);
    assert.equal(server.holderOf(resource), null);
    assert.ok(server.trySignals.every((signal) => signal.aborted));
  });

  it("during the section neither ends it nor keeps the lock from being freed", async () => {
    const caller = new AbortController();
    const call = runner().runGuarded({ ...request, signal: caller.signal }, async () => {
      caller.abort();
      await clock.sleep(10);
      return "done";
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.value === "done");
    assert.equal(server.holderOf(resource), null);
  });
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
    assert.equal(outcome.value, DEPENDABLE_MS);
    assert.equal(outcome.lease, "lost");
  });

  it("that is over when the reply arrives is released and not granted", async () => {
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

  it("is renewed at a third of its length for as long as the section takes", async () => {
    const outcome = await clock.settle(runner().runGuarded(request, () => clock.sleep(3_000)));
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
    const gaps = server.callsOf("renew").map(({ atMs }, index, all) => atMs - (all[index - 1]?.atMs ?? 0));
    assert.ok(gaps.length > 25 && gaps.every((gap) => gap > 95 && gap < 110), gaps.join(" "));
    assert.equal(clock.pendingTimers, 0);
  });

  it("that the server has forgotten is lost at the next renewal", async () => {
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

  it("survives a renewal whose reply is lost", async () => {
    let lost = 0;
    server.losesReplyTo = (kind) => kind === "renew" && lost++ === 0;
    const outcome = await clock.settle(runner().runGuarded(request, () => clock.sleep(1_000)));
    assert.ok(outcome.status === "completed" && outcome.lease === "held");
    assert.equal(incidents[0]?.kind, "renewal_failed");
  });

  it("is given up before the server does when no renewal gets through", async () => {
    const call = runner().runGuarded(request, async ({ signal }) => {
      server.isDown = true;
      await clock.sleep(10_000, signal);
      return clock.nowMs();
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
    assert.equal(outcome.value, DEPENDABLE_MS);
  });

  it("counts from before the renewal was sent, too", async () => {
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
    assert.equal(outcome.value, 102 + DEPENDABLE_MS);
  });

  it("is known lost first thing after the process was paused past its end", async () => {
    const call = runner().runGuarded(request, async ({ signal }) => {
      clock.freeze(1_000);
      await clock.sleep(0);
      return signal.aborted;
    });
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.value && outcome.lease === "lost");
    assert.equal(server.callsOf("renew").length, 0);
  });

  it("is told at once when its process stood still in mid-renewal until the lease was over", async () => {
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

  it("is reported lost when the section ended late and no timer had a chance to say so", async () => {
    const call = runner().runGuarded(request, async () => clock.freeze(1_000));
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.lease === "lost");
  });

  it("is never renewed after its release", async () => {
    // The section ends while the first renewal is under way, and a release sent now would overtake it.
    server.extraDelayMs = (kind) => (kind === "renew" ? 40 : 0);
    const call = runner().runGuarded(request, () => clock.sleep(110));
    await clock.settle(call);
    await clock.advance(5_000);
    assert.deepEqual(
      server.calls.map(({ kind }) => kind),
      ["try", "renew", "release"],
    );
  });

  it("whose release gets no answer is left to its TTL, within the release limit", async () => {
    server.losesReplyTo = (kind) => kind === "release";
    const outcome = await clock.settle(runner({ releaseLimitMs: 400 }).runGuarded(request, async () => 1));
    assert.ok(outcome.status === "completed" && outcome.timings.releaseMs === 400);
    assert.equal(incidents[0]?.kind, "release_failed");
    assert.equal(clock.pendingTimers, 0);
  });

  it("bound to a session is lost when the backend says so", async () => {
    let declareLost = (_reason: unknown) => {};
    const backend = server.backend({ leaseKind: "session" }, (contest) => {
      declareLost = contest.declareLost;
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
});

describe("an outage", () => {
  it("that lasts is told within the wait limit", async () => {
    server.isDown = true;
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 5_000, `${clock.nowMs()} ms`);
    assert.equal(clock.pendingTimers, 0);
  });

  it("is told at once to a caller that may not wait", async () => {
    server.isDown = true;
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 0 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 10);
  });

  it("that passes soon is waited out", async () => {
    server.isDown = true;
    const waiting = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await clock.advance(800);
    server.isDown = false;
    assert.equal((await clock.settle(waiting)).status, "completed");
  });

  it("in which requests vanish is told too, and each try is cleaned up", async () => {
    server.losesReplyTo = (kind) => kind === "try";
    const call = runner().runGuarded({ ...request, waitTimeoutMs: 10_000 }, async () => "entered");
    await assert.rejects(clock.settle(call), code("backend_unavailable"));
    assert.ok(clock.nowMs() < 8_000, `${clock.nowMs()} ms`);
    assert.equal(server.callsOf("release").length, server.callsOf("try").length);
    assert.equal(server.holderOf(resource), null);
  });
});

describe("a nested section", () => {
  it("enters the same hold without another acquire", async () => {
    const lock = runner();
    const call = lock.runGuarded(request, (grant) =>
      grant.runNested(async (inner) => {
        assert.equal(inner.holderId, grant.holderId);
        return inner.runNested(async () => "deep");
      }),
    );
    const outcome = await clock.settle(call);
    assert.ok(outcome.status === "completed" && outcome.value === "deep");
    assert.equal(server.callsOf("try").length, 1);
  });

  it("keeps the hold until it ends, although nobody waits for it", async () => {
    let heldAtItsEnd = false;
    const call = runner().runGuarded(request, async (grant) => {
      void grant.runNested(async () => {
        await clock.sleep(50);
        heldAtItsEnd = server.holderOf(resource) === grant.holderId;
      });
    });
    await clock.settle(call);
    assert.ok(heldAtItsEnd);
    assert.equal(server.holderOf(resource), null);
  });

  it("is refused once the hold is over", async () => {
    let kept: Grant | undefined;
    await clock.settle(
      runner().runGuarded(request, async (grant) => {
        kept = grant;
      }),
    );
    await assert.rejects(async () => kept?.runNested(async () => "too late"), code("lease_lost"));
  });

  it("is refused once the lease is lost", async () => {
    const call = runner().runGuarded(request, async (grant) => {
      clock.freeze(1_000);
      return grant.runNested(async () => "too late");
    });
    await assert.rejects(clock.settle(call), code("lease_lost"));
  });
});

describe("a lock that lives in a transaction", () => {
  it("commits after the section and before the release", async () => {
    const order: string[] = [];
    const backend = server.backend({ leaseKind: "none" }, () => ({
      commit: async () => void order.push("commit"),
      release: async () => {
        order.push("release");
        return "released";
      },
    }));
    const outcome = await clock.settle(runner({}, backend).runGuarded(request, async () => order.push("section")));
    assert.deepEqual(order, ["section", "commit", "release"]);
    assert.ok(outcome.status === "completed" && outcome.lease === "none");
  });

  it("fails with its commit, and does not commit a section that failed", async () => {
    let commits = 0;
    const lost = new Error("connection lost in COMMIT");
    const backend = server.backend({ leaseKind: "none" }, () => ({
      commit: async () => {
        commits += 1;
        throw lost;
      },
    }));
    const lock = runner({}, backend);
    await assert.rejects(clock.settle(lock.runGuarded(request, async () => 1)), lost);
    await assert.rejects(clock.settle(lock.runGuarded(request, () => Promise.reject(new Error("section")))), /section/);
    assert.equal(commits, 1);
  });
});

describe("disposal", () => {
  it("sends waiters away, waits for the holder, and refuses new calls", async () => {
    const lock = runner();
    const { free, outcome } = occupy(lock);
    await clock.advance(10);
    const waiting = lock.runGuarded(request, async () => "entered");
    const sentAway = assert.rejects(waiting, code("aborted"));
    await clock.advance(10);
    let isDisposed = false;
    const disposal = lock[Symbol.asyncDispose]().then(() => {
      isDisposed = true;
    });
    await clock.advance(50);
    await sentAway;
    assert.equal(isDisposed, false);
    free();
    await clock.settle(disposal);
    assert.equal((await outcome).status, "completed");
    await assert.rejects(
      lock.runGuarded(request, async () => 1),
      code("config_invalid"),
    );
    assert.equal(clock.pendingTimers, 0);
  });
});
