import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../testing/fake-clock";
import { seededRandom } from "../testing/seeded-random";
import type { RedisCommands } from "./redis-port";
import { createRedisReentrant } from "./redis-reentrant";
import { lockScript } from "./redisson-protocol";

/** No message ever arrives, so waiters fall back on the TTL that the server returned. */
const noMessages = { subscribe: () => () => {} };

describe("redis-reentrant without a message", () => {
  /** The wait of a call whose first try finds the lock held for another `leftMs`. */
  async function waitAfter(leftMs: number): Promise<number> {
    const clock = new FakeClock();
    const answers: (number | null)[] = [leftMs, null];
    const commands: RedisCommands = {
      call: async (_command, script) => (script === lockScript.sha1 ? (answers.shift() ?? null) : 1),
    };
    const lock = createRedisReentrant({ commands, subscriber: noMessages }, { clock, random: seededRandom(1) });
    const request = { resource: "r", waitTimeoutMs: 60_000, ttlMs: 30_000 };
    const outcome = await clock.settle(lock.runGuarded(request, async () => {}));
    assert.ok(outcome.status === "completed");
    return outcome.timings.waitMs;
  }

  it("tries again after the TTL, not in its last millisecond", async () => {
    assert.equal(await waitAfter(700), 701);
    assert.equal(await waitAfter(0), 1);
  });

  it("tries again after one TTL if the held lock has no expiry", async () => {
    assert.equal(await waitAfter(-1), 30_000);
  });
});
