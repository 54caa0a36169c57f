import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { code, type RunnerBench, request, resource, setUpBench } from "./testing/runner-bench";
import type { Grant } from "./types";

let clock: RunnerBench["clock"];
let server: RunnerBench["server"];
let runner: RunnerBench["runner"];

beforeEach(() => {
  ({ clock, server, runner } = setUpBench());
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

  it("keeps the hold until it ends, even if it is not awaited", async () => {
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

  it("is rejected after the hold has ended", async () => {
    let kept: Grant | undefined;
    await clock.settle(
      runner().runGuarded(request, async (grant) => {
        kept = grant;
      }),
    );
    await assert.rejects(async () => kept?.runNested(async () => "too late"), code("lease_lost"));
  });

  it("is rejected after the lease is lost", async () => {
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

  it("rejects if the commit fails, and does not commit a failed section", async () => {
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
