import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { code, type RunnerBench, request, resource, setUpBench } from "./testing/runner-bench";

let clock: RunnerBench["clock"];
let server: RunnerBench["server"];
let incidents: RunnerBench["incidents"];
let runner: RunnerBench["runner"];

beforeEach(() => {
  ({ clock, server, incidents, runner } = setUpBench());
});

/** What a call may last beyond its wait and its section. */
const BOUND_MS = 1_000;
/** Long, so that no lease ends a wait early. */
const patient = { ...request, ttlMs: 12_000, waitTimeoutMs: 0 };
const assertWithin = (limitMs: number) =>
  assert.ok(clock.nowMs() <= limitMs, `expected an end by ${limitMs} ms, found ${clock.nowMs()} ms`);

describe("a call whose server does not answer", () => {
  for (const waitTimeoutMs of [0, 50, 3_000]) {
    it(`ends within a second after a wait of ${waitTimeoutMs} ms`, async () => {
      server.losesReplyTo = () => true;
      const call = runner().runGuarded({ ...patient, waitTimeoutMs }, async () => assert.fail("granted"));
      await assert.rejects(clock.settle(call), code("backend_unavailable"));
      assertWithin(waitTimeoutMs + BOUND_MS);
    });
  }

  it("ends within a second after its section, and releases after the renewal in flight", async () => {
    // The renewal is sent at 4,000 ms and given up at 8,000 ms.
    server.losesReplyTo = (kind) => kind !== "try";
    const outcome = await clock.settle(runner().runGuarded(patient, () => clock.sleep(4_500)));
    assert.equal(outcome.status, "completed");
    assertWithin(4_502 + BOUND_MS);
    assert.deepEqual(
      server.calls.map(({ kind }) => kind),
      ["try", "renew"],
    );
    await clock.advance(20_000);
    assert.deepEqual(
      server.calls.map(({ kind }) => kind),
      ["try", "renew", "release"],
    );
    assert.equal(server.holderOf(resource), null);
    assert.equal(clock.pendingTimers, 0);
  });

  it("ends within a second even if the grant already came late", async () => {
    server.extraDelayMs = (kind) => (kind === "try" ? 700 : 0);
    server.losesReplyTo = (kind) => kind === "release";
    const outcome = await clock.settle(runner().runGuarded(patient, async () => "done"));
    assert.equal(outcome.status, "completed");
    assertWithin(BOUND_MS);
  });

  it("gives a commit the rest of the second", async () => {
    const limits: number[] = [];
    const backend = server.backend({ leaseKind: "none" }, () => ({
      commit: async (limitMs) => {
        limits.push(limitMs);
        await clock.sleep(limitMs);
        throw new Error("no answer to the commit");
      },
    }));
    server.extraDelayMs = (kind) => (kind === "try" ? 200 : 0);
    server.losesReplyTo = (kind) => kind === "release";
    await assert.rejects(clock.settle(runner({}, backend).runGuarded(patient, async () => 1)), /the commit/);
    assertWithin(BOUND_MS);
    assert.ok((limits[0] ?? 0) >= 500, `expected at least 500 ms for the commit, found ${limits[0]}`);
  });
});

describe("a nested call whose server does not answer", () => {
  const never = () => new Promise<never>(() => {});

  it("ends within a second if it cannot enter", async () => {
    const backend = server.backend({}, () => ({ enterNested: never }));
    const call = runner({}, backend).runGuarded(patient, async (grant) => {
      await assert.rejects(
        grant.runNested(async () => assert.fail("entered")),
        code("backend_unavailable"),
      );
      assertWithin(2 + BOUND_MS);
    });
    await clock.settle(call);
  });

  it("ends within a second after its section if it enters late and cannot leave", async () => {
    const enterNested = async () => {
      await clock.sleep(500);
      return "held" as const;
    };
    const backend = server.backend({}, () => ({ enterNested, leaveNested: never }));
    const call = runner({}, backend).runGuarded(patient, async (grant) => {
      await grant.runNested(() => clock.sleep(300));
      assertWithin(2 + 300 + BOUND_MS);
    });
    await clock.settle(call);
  });

  it("leaves the call around it the rest of the second", async () => {
    server.losesReplyTo = (kind) => kind === "release";
    const backend = server.backend({}, () => ({ leaveNested: never }));
    const call = runner({}, backend).runGuarded(patient, async (grant) => {
      void grant.runNested(() => clock.sleep(300));
    });
    await clock.settle(call);
    assertWithin(2 + 300 + BOUND_MS);
  });

  it("takes no time from a call that goes on after it", async () => {
    server.extraDelayMs = (kind) => (kind === "release" ? 500 : 0);
    const call = runner().runGuarded(patient, async (grant) => {
      await grant.runNested(async () => {});
      await clock.sleep(3_000);
      throw new Error("section");
    });
    await assert.rejects(clock.settle(call), /section/);
    assert.equal(server.holderOf(resource), null, "expected the call to await its release");
  });
});

describe("a release that outlives its call", () => {
  const patience = { releaseLimitMs: 5_000 };

  it("is reported only if it fails", async () => {
    server.extraDelayMs = (kind) => (kind === "release" ? 2_000 : 0);
    await clock.settle(runner(patience).runGuarded(patient, async () => "done"));
    assertWithin(BOUND_MS);
    assert.notEqual(server.holderOf(resource), null);
    await clock.advance(2_000);
    assert.equal(server.holderOf(resource), null);
    assert.deepEqual(incidents, []);
  });

  it("is given up at its limit, with an incident", async () => {
    server.losesReplyTo = (kind) => kind === "release";
    await clock.settle(runner(patience).runGuarded(patient, async () => "done"));
    assert.deepEqual(incidents, []);
    await clock.advance(5_000);
    assert.deepEqual(
      incidents.map(({ kind }) => kind),
      ["release_failed"],
    );
    assert.equal(clock.pendingTimers, 0);
  });

  it("ends before a disposal does", async () => {
    server.extraDelayMs = (kind) => (kind === "release" ? 2_000 : 0);
    const lock = runner(patience);
    await clock.settle(lock.runGuarded(patient, async () => "done"));
    await clock.settle(lock[Symbol.asyncDispose]());
    assert.equal(server.holderOf(resource), null);
    assert.equal(clock.pendingTimers, 0);
  });
});
