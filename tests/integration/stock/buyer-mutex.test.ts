import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { systemClock } from "../../../lib/locks/clock";
import { isLockError } from "../../../lib/locks/errors";
import { openMemcached } from "../../../lib/locks/memcached/memcached-client";
import { systemRandom } from "../../../lib/locks/random";
import { BuyerMutex } from "../../../lib/stock/buyer-mutex";
import type { StockOutcome } from "../../../lib/stock/types";
import { relayService } from "../../support/relayed-servers";
import { waitUntil } from "../../support/wait-until";
import { watchStalls } from "../../support/watch-stalls";

/** As for every lock: a call lasts at most its wait, plus its section, plus this time. Stalls of this process do not count. */
const CALL_BOUND_MS = 1_000;
/** As for every lock: that second, the limit of a release, and a second for the client. */
const CLOSE_BOUND_MS = 4_500;
const SOLD_OUT: StockOutcome = { status: "sold_out" };

function purchase(waitTimeoutMs: number) {
  const target = { kind: "product", id: 1 } as const;
  const trace = { opId: `test-${randomUUID()}`, invokedNs: 0n };
  const buyerId = `buyer ${randomUUID()}`;
  return { target, quantity: 1, buyerId, runId: null, holdMs: 0, ttlMs: 5_000, waitTimeoutMs, trace };
}

async function openMutex() {
  const servers = await relayService("memcached");
  const client = openMemcached(servers.servers.memcached ?? assert.fail("expected an address, found none"));
  const mutex = new BuyerMutex(client, { clock: systemClock, random: systemRandom });
  const close = async () => {
    await mutex[Symbol.asyncDispose]();
    await client[Symbol.asyncDispose]();
  };
  await mutex.run(purchase(5_000), async () => SOLD_OUT);
  const [relay] = servers.relays;
  if (!relay) throw new Error("expected a relay, found none");
  return { mutex, relay, close, [Symbol.asyncDispose]: () => servers[Symbol.asyncDispose]() };
}

/** @returns the milliseconds until the work has settled */
async function timeOf(work: Promise<unknown>): Promise<number> {
  const startedMs = systemClock.nowMs();
  await Promise.allSettled([work]);
  return systemClock.nowMs() - startedMs;
}

describe("the buyer mutex, when Memcached swallows packets", { concurrency: true }, () => {
  for (const waitTimeoutMs of [0, 300]) {
    it(`rejects a purchase within a second of a wait of ${waitTimeoutMs} ms`, async () => {
      await using opened = await openMutex();
      opened.relay.freeze();
      using stalls = watchStalls();
      const call = opened.mutex.run(purchase(waitTimeoutMs), async () => SOLD_OUT);
      const overrunMs = (await timeOf(call)) - waitTimeoutMs - stalls.totalMs();
      assert.ok(overrunMs <= CALL_BOUND_MS, `expected at most ${CALL_BOUND_MS} ms, found ${overrunMs} ms`);
      await assert.rejects(call, (error) => isLockError(error) && error.code === "backend_unavailable");
      await opened.close();
    });
  }

  it("ends a purchase within a second of its work, and closes in time", async () => {
    await using opened = await openMutex();
    let workEndedMs = 0;
    using stalls = watchStalls();
    const outcome = await opened.mutex.run(purchase(5_000), async () => {
      opened.relay.freeze();
      workEndedMs = systemClock.nowMs();
      return SOLD_OUT;
    });
    const overrunMs = systemClock.nowMs() - workEndedMs - stalls.totalMs();
    assert.deepEqual(outcome, SOLD_OUT);
    assert.ok(overrunMs <= CALL_BOUND_MS, `expected at most ${CALL_BOUND_MS} ms, found ${overrunMs} ms`);
    using closeStalls = watchStalls();
    const closeMs = (await timeOf(opened.close())) - closeStalls.totalMs();
    assert.ok(closeMs <= CLOSE_BOUND_MS, `expected at most ${CLOSE_BOUND_MS} ms, found ${closeMs} ms`);
  });

  it("frees a key that was added after its purchase gave up", async () => {
    await using opened = await openMutex();
    const request = purchase(0);
    opened.relay.holdReplies();
    await assert.rejects(opened.mutex.run(request, async () => SOLD_OUT));
    opened.relay.passReplies();
    const again = async () => (await opened.mutex.run(request, async () => SOLD_OUT)).status !== "contended";
    await waitUntil(again, { what: "the buyer's key to be free", withinMs: 3_000 });
    await opened.close();
  });
});
