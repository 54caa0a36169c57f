import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../testing/fake-clock";
import { seededRandom } from "../testing/seeded-random";
import type { RedisCommands } from "./redis-port";
import { createRedisReentrant } from "./redis-reentrant";
import { lockScript } from "./redisson-protocol";

/** Deaf: nobody ever publishes, so that every waiter falls back on what the server said of the TTL. */
const silence = { subscribe: () => () => {} };

describe("redis-reentrant without a message", () => {
  /** How long a call waits whose first try finds the lock taken, with that much of its TTL left. */
  async function waitAfter(leftMs: number): Promise<number> {
    const clock = new FakeClock();
    const answers: (number | null)[] = [leftMs, null];
    const commands: RedisCommands = {
      call: async (_command, script) => (script === lockScript.sha1 ? (answers.shift() ?? null) : 1),
    };
    const lock = createRedisReentrant({ commands, subscriber: silence }, { clock, random: seededRandom(1) });
    const request = { resource: "r", waitTimeoutMs: 60_000, ttlMs: 30_000 };
    const outcome = await clock.settle(lock.runGuarded(request, async () => {}));
    assert.ok(outcome.status === "completed");
    return outcome.timings.waitMs;
  }

  it("looks again once the TTL is past, and not in its last millisecond", async () => {
    assert.equal(await waitAfter(700), 701);
    assert.equal(await waitAfter(0), 1);
  });

  it("looks again after its own TTL where the lock has none", async () => {
    assert.equal(await waitAfter(-1), 30_000);
  });
});
