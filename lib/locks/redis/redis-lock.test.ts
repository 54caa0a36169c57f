import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../testing/fake-clock";
import { seededRandom } from "../testing/seeded-random";
import { createRedisLock } from "./redis-lock";

/** A Redis that grants every lock, and whose replicas confirm as WAIT reports in turn; the last report repeats. */
function makeLock({ redisWaitReplicas, reports }: { redisWaitReplicas: number; reports: number[] }) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const commands = {
    call: async (command: string, ...parameters: (string | number)[]) => {
      sent.push(command === "WAIT" ? `WAIT ${parameters[0]}` : command);
      if (command === "SET") return "OK";
      return command === "WAIT" ? (reports.length > 1 ? reports.shift() : reports[0]) : 1;
    },
  };
  const lock = createRedisLock(commands, { clock, random: seededRandom(1), redisWaitReplicas });
  const request = { resource: "r", waitTimeoutMs: 1_000, ttlMs: 30_000 };
  return { sent, buy: () => clock.settle(lock.runGuarded(request, async () => "sold")) };
}

describe("redis-lock that waits for replicas", () => {
  it("grants a lock that enough replicas have", async () => {
    const { sent, buy } = makeLock({ redisWaitReplicas: 1, reports: [1] });
    assert.equal((await buy()).status, "completed");
    assert.deepEqual(sent.slice(0, 2), ["SET", "WAIT 1"]);
  });

  it("releases a lock that too few replicas have, and tries again", async () => {
    const { sent, buy } = makeLock({ redisWaitReplicas: 2, reports: [1, 2] });
    assert.equal((await buy()).status, "completed");
    assert.deepEqual(sent.slice(0, 5), ["SET", "WAIT 2", "EVALSHA", "SET", "WAIT 2"]);
  });

  it("fails with quorum_failed if no try gets enough replicas", async () => {
    const { buy } = makeLock({ redisWaitReplicas: 1, reports: [0] });
    await assert.rejects(buy(), { code: "quorum_failed", isDefinite: true, message: /0 of 1 replicas had the lock/ });
  });

  it("sends no WAIT by default", async () => {
    const { sent, buy } = makeLock({ redisWaitReplicas: 0, reports: [0] });
    assert.equal((await buy()).status, "completed");
    assert.ok(!sent.some((command) => command.startsWith("WAIT")), `expected no WAIT, found ${sent.join(", ")}`);
  });
});
