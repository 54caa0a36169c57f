import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { type ChannelEvent, shareSubscriber } from "./redis-subscriber";

class FakeClient extends EventEmitter {
  readonly sent: string[] = [];
  /** The reply to the next SUBSCRIBE. */
  answer: () => Promise<unknown> = async () => 1;

  subscribe(channel: string): Promise<unknown> {
    this.sent.push(`+${channel}`);
    return this.answer();
  }

  async unsubscribe(channel: string): Promise<unknown> {
    this.sent.push(`-${channel}`);
    return 0;
  }
}

/** Runs all pending promise callbacks. */
const settle = async () => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe("shared subscriber", () => {
  let client: FakeClient;
  let subscriber: ReturnType<typeof shareSubscriber>;
  let events: string[];
  const record = (name: string) => (event: ChannelEvent) =>
    void events.push(`${name} ${event.kind === "message" ? event.text : event.kind}`);

  beforeEach(() => {
    client = new FakeClient();
    subscriber = shareSubscriber(client);
    events = [];
  });

  it("subscribes to a channel once and unsubscribes with its last listener", async () => {
    const removals = [subscriber.subscribe("c", record("a")), subscriber.subscribe("c", record("b"))];
    await settle();
    for (const remove of removals) remove();
    assert.deepEqual(client.sent, ["+c", "-c"]);
  });

  it("sends `subscribed` to every listener, including later ones", async () => {
    subscriber.subscribe("c", record("a"));
    await settle();
    subscriber.subscribe("c", record("b"));
    await settle();
    assert.deepEqual(events, ["a subscribed", "b subscribed"]);
  });

  it("sends messages to the listeners of their channel", async () => {
    subscriber.subscribe("c", record("a"));
    const remove = subscriber.subscribe("c", record("b"));
    subscriber.subscribe("d", record("d"));
    await settle();
    events = [];
    client.emit("message", "c", "0");
    remove();
    client.emit("message", "c", "1");
    assert.deepEqual(events, ["a 0", "b 0", "a 1"]);
  });

  it("reports a lost connection once, resubscribes, and sends `subscribed` again", async () => {
    subscriber.subscribe("c", record("a"));
    await settle();
    for (const event of ["close", "close", "ready"]) client.emit(event);
    await settle();
    assert.deepEqual(client.sent, ["+c", "+c"]);
    assert.deepEqual(events, ["a subscribed", "a lost", "a subscribed"]);
  });

  it("sends no event while the server is unreachable, and subscribes when it is back", async () => {
    client.answer = () => Promise.reject(new Error("Connection is closed."));
    subscriber.subscribe("c", record("a"));
    await settle();
    assert.deepEqual(events, []);
    client.answer = async () => 1;
    client.emit("ready");
    await settle();
    assert.deepEqual(events, ["a subscribed"]);
  });

  it("ignores a late failure of an earlier connection", async () => {
    let fail = (_reason: Error) => {};
    client.answer = () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      });
    subscriber.subscribe("c", record("a"));
    client.emit("close");
    client.answer = async () => 1;
    client.emit("ready");
    await settle();
    fail(new Error("Connection is closed."));
    await settle();
    subscriber.subscribe("c", record("b"));
    await settle();
    assert.deepEqual(events, ["a lost", "a subscribed", "b subscribed"]);
  });

  it("sends no event to a removed listener", async () => {
    subscriber.subscribe("c", record("a"))();
    await settle();
    assert.deepEqual(events, []);
    assert.deepEqual(client.sent, ["+c", "-c"]);
  });
});
