import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { readPropertySeed } from "../../bin/testing/property-seed";
import type { OpenApiDocument } from "../../lib/http/openapi";
import { Contract } from "../support/contract";
import { requireEnv } from "../support/lab-env";
import { createOwnDatabase, type OwnDatabase } from "../support/own-database";
import { type OwnNode, startOwnNode } from "../support/own-node";
import { type OwnRedis, startOwnRedis } from "../support/own-redis";
import { type RawAnswer, RawClient } from "../support/raw-request";
import { type Malformed, malformed } from "./malformed-requests";

requireEnv("DATABASE_URL");

const REQUESTS = 5_200;
const CONNECTIONS = 24;
/** `redis-lock` acquires its lock with SET. The node sends no other SET. */
const LOCK_COMMAND = /^cmdstat_set:/m;
const propertySeed = readPropertySeed();
const ADMIN_TOKEN = "the admin token of the fuzzed lab";

describe(`malformed requests (PROPERTY_SEED=${propertySeed})`, () => {
  let database: OwnDatabase;
  let redis: OwnRedis;
  let node: OwnNode;
  let contract: Contract;

  before(async () => {
    [database, redis] = await Promise.all([createOwnDatabase(), startOwnRedis()]);
    // Every purchase acquires a lock in Redis, so that Redis shows whether one was acquired.
    node = await startOwnNode({
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      LOCK_STRATEGY: "redis-lock",
      LAB_ADMIN_TOKEN: ADMIN_TOKEN,
    });
    // Creates the secret that signs the buyer cookies: the only row that a read may write.
    await fetch(`${node.url}/api/buyer`);
    contract = new Contract((await (await fetch(`${node.url}/api/openapi.json`)).json()) as OpenApiDocument);
    await database.pool.query(
      `INSERT INTO products (slug, name, description, price_cents, stock) VALUES ('fuzz', 'fuzz', '', 100, 5)`,
    );
  });

  after(async () => {
    await node[Symbol.asyncDispose]();
    await redis[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** @returns what is wrong with the answer, or null */
  async function problemWith({ route, request, mustBeRefused }: Malformed, client: RawClient): Promise<string | null> {
    let answer: RawAnswer;
    try {
      answer = await client.send(request);
    } catch (error) {
      return `no answer: ${(error as Error).message}`;
    }
    if (/\bat .*\.(ts|js):\d+|node_modules|node:internal/.test(answer.body)) return "a stack trace";
    if (mustBeRefused && answer.status < 400) return `expected an error, found ${answer.status}`;
    if (answer.headers["x-content-type-options"] !== "nosniff") return "no security headers";
    return contract.problemOf(route, answer);
  }

  it(`get declared errors in the API's error shape, acquire no lock and change no row (${REQUESTS} requests)`, async () => {
    const { operations } = contract;
    assert.ok(operations.length > 25, `${operations.length} routes`);
    const perRoute = Math.ceil(REQUESTS / operations.length);
    const cases = operations.flatMap((route, index) =>
      fc.sample(malformed(route, { contract, adminToken: ADMIN_TOKEN }), {
        seed: propertySeed + index,
        numRuns: perRoute,
      }),
    );
    assert.ok(cases.length >= REQUESTS);
    const before = await database.digest();
    const problems = new Map<string, string>();
    using client = new RawClient(node.port, CONNECTIONS);
    const queue = cases.values();
    const work = async () => {
      for (const sent of queue) {
        const problem = await problemWith(sent, client);
        const { method, path } = sent.request;
        if (problem !== null)
          problems.set(`${sent.route.path} ${sent.what}`, `${method} ${path.slice(0, 80)}: ${problem}`);
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    assert.deepEqual([...problems].slice(0, 10), []);
    assert.deepEqual(await database.digest(), before, "expected no row to change");
    await assertNoLockWasTaken();
    assert.ok(!node.log().includes('"level":"error"'), node.log().slice(-2_000));
  });

  const redisCommands = () => redis.probe.info("commandstats");

  async function assertNoLockWasTaken(): Promise<void> {
    const metrics = await (await fetch(`${node.url}/metrics`)).text();
    assert.match(metrics, /^http_request_duration_seconds_count\{/m, "expected request metrics, found none");
    assert.doesNotMatch(metrics, /^flash_sale_purchases_total\{/m, "a purchase reached the lock");
    assert.doesNotMatch(await redisCommands(), LOCK_COMMAND, "Redis received a lock command");
  }

  it("would be detected: a valid purchase acquires the lock and fails the check above", async () => {
    const response = await fetch(`${node.url}/api/products/1/reduce-stock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"userId":"sound"}',
    });
    assert.equal(response.status, 201);
    await assert.rejects(assertNoLockWasTaken, /reached the lock/);
    assert.match(await redisCommands(), LOCK_COMMAND);
  });
});
