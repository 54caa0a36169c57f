import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FakeClock } from "../testing/fake-clock";
import type { ChannelListener, RedisSubscriber } from "./redis-subscriber";
import { type Place, WakeUpQueue } from "./wake-up-queue";

class FakeChannels implements RedisSubscriber {
  readonly listeners = new Map<string, ChannelListener>();
  subscriptions = 0;

  subscribe(channel: string, listener: ChannelListener): () => void {
    this.subscriptions += 1;
    this.listeners.set(channel, listener);
    return () => this.listeners.delete(channel);
  }

  say(text: string): void {
    this.listeners.get("c")?.({ kind: "message", text });
  }

  lose(): void {
    this.listeners.get("c")?.({ kind: "lost" });
  }

  confirm(): void {
    this.listeners.get("c")?.({ kind: "subscribed" });
  }
}

describe("waiting room", () => {
  function setUp() {
    const channels = new FakeChannels();
    const clock = new FakeClock();
    const room = new WakeUpQueue(channels, "0");
    const never = new AbortController().signal;
    const woken: string[] = [];
    const wait = (place: Place, name: string, signal: AbortSignal = never) =>
      place.wait(clock, 1_000, signal).then(() => woken.push(name));
    return { channels, clock, room, woken, wait, places: [room.place("c"), room.place("c"), room.place("c")] as const };
  }
  /** Everything that is ready to run has run. */
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };

  it("subscribes once for all waiters, and stops listening with the last", () => {
    const { channels, places, wait } = setUp();
    for (const place of places) void wait(place, "");
    assert.equal(channels.subscriptions, 1);
    for (const place of places) place.leave();
    assert.equal(channels.listeners.size, 0);
  });

  it("wakes the first of those who wait, one a message", async () => {
    const { channels, places, wait, woken } = setUp();
    for (const [index, place] of places.entries()) void wait(place, `${index}`);
    channels.say("0");
    await settle();
    assert.deepEqual(woken, ["0"]);
    channels.say("0");
    await settle();
    assert.deepEqual(woken, ["0", "1"]);
  });

  it("lets one waiter look once the subscription stands, and takes no notice of other messages", async () => {
    const { channels, places, wait, woken } = setUp();
    for (const [index, place] of places.entries()) void wait(place, `${index}`);
    channels.say("1");
    await settle();
    assert.deepEqual(woken, []);
    channels.confirm();
    await settle();
    assert.deepEqual(woken, ["0"]);
  });

  it("wakes all when nothing can be heard any more: each is to learn whether the server is there", async () => {
    const { channels, places, wait, woken } = setUp();
    for (const [index, place] of places.entries()) void wait(place, `${index}`);
    channels.lose();
    await settle();
    assert.deepEqual(woken, ["0", "1", "2"]);
  });

  it("wakes a waiter when its time is over, message or not, and leaves no timer", async () => {
    const { clock, places, wait, woken } = setUp();
    void wait(places[0], "0");
    await clock.advance(1_000);
    assert.deepEqual(woken, ["0"]);
    assert.equal(clock.pendingTimers, 0);
  });

  it("keeps a message for a waiter whose try is under way: its answer may be older", async () => {
    const { channels, places, wait, woken } = setUp();
    const [place] = places;
    void wait(place, "first");
    channels.confirm();
    await settle();
    place.trying();
    channels.say("0");
    place.answered("held");
    void wait(place, "second");
    await settle();
    assert.deepEqual(woken, ["first", "second"]);
  });

  it("passes a wake-up on when its waiter gives up before it has tried", async () => {
    const { channels, places, wait, woken } = setUp();
    for (const [index, place] of places.entries()) void wait(place, `${index}`);
    channels.say("0");
    places[0].leave();
    await settle();
    assert.deepEqual(woken, ["0", "1"]);
  });

  it("passes a wake-up on when the try it was used for got no answer", async () => {
    const { channels, places, wait, woken } = setUp();
    for (const [index, place] of places.entries()) void wait(place, `${index}`);
    channels.say("0");
    places[0].trying();
    places[0].leave();
    await settle();
    assert.deepEqual(woken, ["0", "1"]);
  });

  it("passes nothing on when the try was answered", async () => {
    const { channels, places, wait, woken } = setUp();
    for (const [index, place] of places.entries()) void wait(place, `${index}`);
    channels.say("0");
    places[0].trying();
    places[0].answered("granted");
    await settle();
    assert.deepEqual(woken, ["0"]);
  });

  it("ends the wait of a caller that gives up", async () => {
    const { places, wait, woken, clock } = setUp();
    const caller = new AbortController();
    void wait(places[0], "0", caller.signal);
    caller.abort();
    await settle();
    assert.deepEqual(woken, ["0"]);
    assert.equal(clock.pendingTimers, 0);
  });
});
