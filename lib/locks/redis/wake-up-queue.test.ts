import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../testing/fake-clock";
import type { ChannelListener, RedisSubscriber } from "./redis-subscriber";
import { type Waiter, WakeUpQueue } from "./wake-up-queue";

class FakeChannels implements RedisSubscriber {
  readonly listeners = new Map<string, ChannelListener>();
  subscriptions = 0;

  subscribe(channel: string, listener: ChannelListener): () => void {
    this.subscriptions += 1;
    this.listeners.set(channel, listener);
    return () => this.listeners.delete(channel);
  }

  publish(text: string): void {
    this.listeners.get("c")?.({ kind: "message", text });
  }

  disconnect(): void {
    this.listeners.get("c")?.({ kind: "lost" });
  }

  confirm(): void {
    this.listeners.get("c")?.({ kind: "subscribed" });
  }
}

describe("wake-up queue", () => {
  function setUp() {
    const channels = new FakeChannels();
    const clock = new FakeClock();
    const queue = new WakeUpQueue(channels, "0");
    const never = new AbortController().signal;
    const woken: string[] = [];
    const wait = (waiter: Waiter, name: string, signal: AbortSignal = never) =>
      waiter.wait(clock, 1_000, signal).then(() => woken.push(name));
    return {
      channels,
      clock,
      queue,
      woken,
      wait,
      waiters: [queue.waiter("c"), queue.waiter("c"), queue.waiter("c")] as const,
    };
  }
  /** Runs all pending promise callbacks. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };

  it("subscribes once for all waiters and unsubscribes with the last", () => {
    const { channels, waiters, wait } = setUp();
    for (const waiter of waiters) void wait(waiter, "");
    assert.equal(channels.subscriptions, 1);
    for (const waiter of waiters) waiter.leave();
    assert.equal(channels.listeners.size, 0);
  });

  it("wakes one waiter per message, in arrival order", async () => {
    const { channels, waiters, wait, woken } = setUp();
    for (const [index, waiter] of waiters.entries()) void wait(waiter, `${index}`);
    channels.publish("0");
    await settle();
    assert.deepEqual(woken, ["0"]);
    channels.publish("0");
    await settle();
    assert.deepEqual(woken, ["0", "1"]);
  });

  it("wakes one waiter when the subscription is confirmed, and ignores other messages", async () => {
    const { channels, waiters, wait, woken } = setUp();
    for (const [index, waiter] of waiters.entries()) void wait(waiter, `${index}`);
    channels.publish("1");
    await settle();
    assert.deepEqual(woken, []);
    channels.confirm();
    await settle();
    assert.deepEqual(woken, ["0"]);
  });

  it("wakes all waiters when the connection is lost, so that each one tries the server", async () => {
    const { channels, waiters, wait, woken } = setUp();
    for (const [index, waiter] of waiters.entries()) void wait(waiter, `${index}`);
    channels.disconnect();
    await settle();
    assert.deepEqual(woken, ["0", "1", "2"]);
  });

  it("wakes a waiter after its limit without a message, and leaves no timer", async () => {
    const { clock, waiters, wait, woken } = setUp();
    void wait(waiters[0], "0");
    await clock.advance(1_000);
    assert.deepEqual(woken, ["0"]);
    assert.equal(clock.pendingTimers, 0);
  });

  it("keeps a message for a waiter whose try is pending, because the answer may be older", async () => {
    const { channels, waiters, wait, woken } = setUp();
    const [waiter] = waiters;
    void wait(waiter, "first");
    channels.confirm();
    await settle();
    waiter.tryStarted();
    channels.publish("0");
    waiter.tryAnswered("held");
    void wait(waiter, "second");
    await settle();
    assert.deepEqual(woken, ["first", "second"]);
  });

  it("passes a wake-up on when its waiter leaves before trying", async () => {
    const { channels, waiters, wait, woken } = setUp();
    for (const [index, waiter] of waiters.entries()) void wait(waiter, `${index}`);
    channels.publish("0");
    waiters[0].leave();
    await settle();
    assert.deepEqual(woken, ["0", "1"]);
  });

  it("passes a wake-up on when the try it caused gets no answer", async () => {
    const { channels, waiters, wait, woken } = setUp();
    for (const [index, waiter] of waiters.entries()) void wait(waiter, `${index}`);
    channels.publish("0");
    waiters[0].tryStarted();
    waiters[0].leave();
    await settle();
    assert.deepEqual(woken, ["0", "1"]);
  });

  it("passes nothing on when the try was answered", async () => {
    const { channels, waiters, wait, woken } = setUp();
    for (const [index, waiter] of waiters.entries()) void wait(waiter, `${index}`);
    channels.publish("0");
    waiters[0].tryStarted();
    waiters[0].tryAnswered("granted");
    await settle();
    assert.deepEqual(woken, ["0"]);
  });

  it("ends the wait when the caller aborts", async () => {
    const { waiters, wait, woken, clock } = setUp();
    const caller = new AbortController();
    void wait(waiters[0], "0", caller.signal);
    caller.abort();
    await settle();
    assert.deepEqual(woken, ["0"]);
    assert.equal(clock.pendingTimers, 0);
  });
});
