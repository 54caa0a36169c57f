import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, describe, it } from "node:test";
import type { Redis } from "ioredis";
import { readPropertySeed } from "../../../bin/testing/property-seed";
import { openMemcached } from "../../../lib/locks/memcached/memcached-client";
import type { MemcachedVersion } from "../../../lib/locks/memcached/memcached-port";
import { releaseScript, renewScript } from "../../../lib/locks/redis/owner-scripts";
import { acquireScript } from "../../../lib/locks/redis/redis-fenced";
import { enterNestedScript, extendScript, lockScript, unlockScript } from "../../../lib/locks/redis/redisson-protocol";
import { type RedisScript, runScript } from "../../../lib/locks/redis/script";
import { SimMemcached } from "../../../simulator/servers/sim-memcached";
import { SimRedis } from "../../../simulator/servers/sim-redis";
import { Prng } from "../../../simulator/world/prng";
import { World } from "../../../simulator/world/world";
import { type LockClients, lockServers, openLockClients } from "../../support/lock-clients";

const propertySeed = readPropertySeed();
const SCRIPTS: readonly [RedisScript, ...RedisScript[]] = [
  releaseScript,
  renewScript,
  acquireScript,
  lockScript,
  enterNestedScript,
  unlockScript,
  extendScript,
];
const SEQUENCES = 150;
const COMMANDS = 14;
/** Long, so nothing expires: other tests cover expiry. A PTTL may differ by the run time of the test. */
const TTL_MS = 600_000;
const CLOCKS_DIFFER_MS = 60_000;

describe("the simulator's models", () => {
  let clients: LockClients;
  let real: Redis;

  before(() => {
    clients = openLockClients();
    real = clients.redis();
  });
  after(() => clients[Symbol.asyncDispose]());

  it("answer every command and script of the locks like Redis", async () => {
    const random = new Prng(propertySeed);
    for (let sequence = 1; sequence <= SEQUENCES; sequence += 1) {
      const model = new SimRedis(new World(propertySeed), "model", 1);
      const tag = randomUUID();
      const said: string[] = [];
      for (let turn = 1; turn <= COMMANDS; turn += 1) {
        const step = drawStep(random, tag);
        said.push(step.says);
        const [expected, answered] = await Promise.all([outcomeOf(step.onReal(real)), outcomeOf(step.onModel(model))]);
        assert.ok(
          isAlike(expected, answered),
          `PROPERTY_SEED=${propertySeed}: ${said.join(" | ")}: Redis ${expected}, model ${answered}`,
        );
      }
      await real.del(...["lock", "hash", "count"].map((name) => `${tag}:${name}`));
    }
  });

  it("answer add, gets, cas and increment like Memcached", async () => {
    const random = new Prng(propertySeed);
    await using memcached = openMemcached(lockServers().memcached);
    for (let sequence = 1; sequence <= SEQUENCES; sequence += 1) {
      const model = new SimMemcached(new World(propertySeed), "model", 1);
      const key = randomUUID();
      let seen: { real: MemcachedVersion; model: MemcachedVersion } | null = null;
      for (let turn = 1; turn <= COMMANDS; turn += 1) {
        const item = { key, value: String(random.whole(1, 3)), expirySeconds: random.pick([0, 600, 600, -1]) };
        const where = `PROPERTY_SEED=${propertySeed}, sequence ${sequence}, turn ${turn}`;
        const what = random.fraction();
        if (what < 0.3) assert.equal(model.add(item), await memcached.add(item), where);
        else if (what < 0.7) {
          const [found, expected] = [model.gets(key), await memcached.gets(key)];
          assert.equal(found?.value, expected?.value, where);
          if (found && expected) seen = { real: expected, model: found };
        } else if (what < 0.9 && seen) {
          assert.equal(model.cas(item, seen.model), await memcached.cas(item, seen.real), where);
        } else {
          assert.equal(model.increment(key, 1), await memcached.increment(key, 1), where);
        }
      }
    }
  });
});

interface Step {
  readonly says: string;
  onReal(redis: Redis): Promise<unknown>;
  onModel(redis: SimRedis): Promise<unknown>;
}

function drawStep(random: Prng, tag: string): Step {
  const key = `${tag}:${random.pick(["lock", "lock", "hash"])}`;
  const holder = random.pick(["one", "two"]);
  if (random.chance(0.6)) {
    const script = random.pick(SCRIPTS);
    const keys = [key, `${tag}:count`];
    const values = valuesFor(script.source, holder);
    const parameters = [keys.length, ...keys, ...values];
    return {
      says: `${script.sha1.slice(0, 8)} ${parameters.join(" ")}`,
      onReal: (redis) => runScript(redis, script, { keys, values }),
      onModel: async (redis) =>
        redis.execute({ actor: holder, name: "EVAL", parameters: [script.source, ...parameters] }),
    };
  }
  const [name = "", ...parameters] = random.pick<string[]>([
    ["SET", key, holder, "NX", "PX", String(TTL_MS)],
    ["SET", key, holder, "PX", String(TTL_MS)],
    ["GET", key],
    ["DEL", key],
    ["EXISTS", key],
    ["PTTL", key],
    ["PEXPIRE", key, String(TTL_MS)],
    ["HEXISTS", key, holder],
    ["HINCRBY", key, holder, "1"],
    ["INCR", `${tag}:count`],
  ]);
  return {
    says: `${name} ${parameters.join(" ")}`,
    onReal: (redis) => redis.call(name, ...parameters),
    onModel: async (redis) => redis.execute({ actor: holder, name, parameters }),
  };
}

/** Finds the holder by its position in the script's arguments, which the script's text contains. */
function valuesFor(source: string, holder: string): string[] {
  const ttl = String(TTL_MS);
  if (source.includes("PUBLISH")) return ["0", ttl, holder];
  return source.includes("HEXISTS") ? [ttl, holder] : [holder, ttl];
}

/** The answer, or the kind of error. */
async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  const [settled] = await Promise.allSettled([work]);
  if (settled.status === "fulfilled") return settled.value;
  // Redis appends the position in the script; the first word is the kind.
  return `rejected: ${/WRONGTYPE|NOSCRIPT|ERR/.exec(String(settled.reason))?.[0]}`;
}

function isAlike(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  const areTimes = typeof left === "number" && typeof right === "number" && left > CLOCKS_DIFFER_MS;
  return areTimes && Math.abs(left - right) < CLOCKS_DIFFER_MS;
}
