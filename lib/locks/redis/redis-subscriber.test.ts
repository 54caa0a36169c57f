import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { type ChannelEvent, shareSubscriber } from "./redis-subscriber";

class FakeClient extends EventEmitter {
  readonly asked: string[] = [];
  /** What the server does with the next SUBSCRIBE. */
  answer: () => Promise<unknown> = async () => 1;

  subscribe(channel: string): Promise<unknown> {
    this.asked.push(`+${channel}`);
    return this.answer();
  }

  async unsubscribe(channel: string): Promise<unknown> {
    this.asked.push(`-${channel}`);
    return 0;
  }
}

/** Everything that is ready to run has run. */
const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe("shared subscriber", () => {
  let client: FakeClient;
  let subscriber: ReturnType<typeof shareSubscriber>;
  let heard: string[];
  const note = (name: string) => (event: ChannelEvent) =>
    void heard.push(`${name} ${event.kind === "message" ? event.text : event.kind}`);

  beforeEach(() => {
    client = new FakeClient();
    subscriber = shareSubscriber(client);
    heard = [];
  });

  it("subscribes to a channel once, and unsubscribes with its last listener", async () => {
    const stops = [subscriber.subscribe("c", note("a")), subscriber.subscribe("c", note("b"))];
    await settle();
    for (const stop of stops) stop();
    assert.deepEqual(client.asked, ["+c", "-c"]);
  });

  it("tells every listener from when on it misses nothing, those who come later too", async () => {
    subscriber.subscribe("c", note("a"));
    await settle();
    subscriber.subscribe("c", note("b"));
    await settle();
    assert.deepEqual(heard, ["a subscribed", "b subscribed"]);
  });

  it("passes messages to the listeners of their channel", async () => {
    subscriber.subscribe("c", note("a"));
    const stop = subscriber.subscribe("c", note("b"));
    subscriber.subscribe("d", note("d"));
    await settle();
    heard = [];
    client.emit("message", "c", "0");
    stop();
    client.emit("message", "c", "1");
    assert.deepEqual(heard, ["a 0", "b 0", "a 1"]);
  });

  it("says once when its connection is lost, subscribes again, and says that messages may be missing", async () => {
    subscriber.subscribe("c", note("a"));
    await settle();
    for (const event of ["close", "close", "ready"]) client.emit(event);
    await settle();
    assert.deepEqual(client.asked, ["+c", "+c"]);
    assert.deepEqual(heard, ["a subscribed", "a lost", "a subscribed"]);
  });

  it("stays silent while the server cannot be reached, and asks again when it can", async () => {
    client.answer = () => Promise.reject(new Error("Connection is closed."));
    subscriber.subscribe("c", note("a"));
    await settle();
    assert.deepEqual(heard, []);
    client.answer = async () => 1;
    client.emit("ready");
    await settle();
    assert.deepEqual(heard, ["a subscribed"]);
  });

  it("does not take a late failure of an old connection for one of the new", async () => {
    let fail = (_reason: Error) => {};
    client.answer = () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      });
    subscriber.subscribe("c", note("a"));
    client.emit("close");
    client.answer = async () => 1;
    client.emit("ready");
    await settle();
    fail(new Error("Connection is closed."));
    await settle();
    subscriber.subscribe("c", note("b"));
    await settle();
    assert.deepEqual(heard, ["a lost", "a subscribed", "b subscribed"]);
  });

  it("tells a listener that has left nothing", async () => {
    subscriber.subscribe("c", note("a"))();
    await settle();
    assert.deepEqual(heard, []);
    assert.deepEqual(client.asked, ["+c", "-c"]);
  });
});
