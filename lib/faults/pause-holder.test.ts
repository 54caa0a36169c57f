import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { traitsOf } from "../stock/stock-strategies";
import type { Injection } from "./fault";
import { pauseHolder } from "./pause-holder";

/** Injects a pause of 1,000 ms whose node reports that it was stopped for `stoppedMs`. */
function inject(strategy: string, stoppedMs: number) {
  const paused = { status: "paused", holderId: "h-1", buyerId: "buyer-1", fromNs: "0", toNs: String(stoppedMs * 1e6) };
  const injection = {
    node: {
      name: "node-1",
      armStop: async () => 0,
      disarmStops: async () => ({ instance: "1.a", outcomes: [paused] }),
    },
    traits: traitsOf(strategy),
    ttlMs: 100,
    atMs: 0,
    durationMs: 1_000,
    closing: AbortSignal.abort(),
  };
  return pauseHolder.inject(injection as unknown as Injection);
}

describe("the proof of a paused holder", () => {
  it("is a stop of nine tenths of the requested duration", async () => {
    assert.equal((await inject("redis-lock", 900)).stoppedNode, "node-1");
    await assert.rejects(inject("redis-lock", 899), /node-1 was stopped for 899 ms instead of 1 s/);
  });
});
