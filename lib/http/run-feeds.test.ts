import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, it } from "node:test";
import type { RunDocument } from "../runs/document";
import type { RunSample } from "../runs/run-sample";
import { runDocument, runSample } from "../runs/testing/run-fixture";
import type { StreamedAnswer } from "./answer";
import { isHttpError } from "./errors";
import { sendChunks } from "./node-adapter";
import type { FeedReading } from "./run-feed";
import { RunFeeds } from "./run-feeds";
import { eventStream, MAX_STREAMS } from "./sse";

/** A run in memory that counts its readers. */
class StoredRun {
  document: RunDocument = runDocument({ id: "run-1", status: "running" });
  samples: RunSample[] = [];
  reads = 0;
  fails = false;

  add(count: number): void {
    for (let added = 0; added < count; added += 1) {
      this.samples.push(runSample(this.samples.length + 1));
    }
  }

  readonly read = async (id: string, afterSeq: number): Promise<FeedReading | null> => {
    this.reads += 1;
    if (this.fails) throw new Error("the database is down");
    if (id !== this.document.id) return null;
    return { document: this.document, samples: this.samples.filter(({ seq }) => seq > afterSeq) };
  };
}

class Watcher {
  readonly closing = new AbortController();
  readonly events: { readonly event: string; readonly id: number }[] = [];
  isOver = false;

  static async open(feeds: RunFeeds, afterSeq = 0): Promise<Watcher> {
    const watcher = new Watcher();
    const answer = await feeds.watch({ id: "run-1", afterSeq, clientClosed: watcher.closing.signal });
    void watcher.#receive(answer);
    return watcher;
  }

  async #receive({ chunks }: StreamedAnswer): Promise<void> {
    for await (const text of chunks) {
      for (const block of text.split("\n\n").slice(0, -1)) {
        const [, event = "", , id = "0"] = /^event: (\w+)\n(id: (\d+)\n)?data: \{.*\}$/.exec(block) ?? [];
        this.events.push({ event, id: Number(id) });
      }
    }
    this.isOver = true;
  }

  get ids(): number[] {
    return this.events.filter(({ event }) => event === "sample").map(({ id }) => id);
  }
}

const until = async (condition: () => boolean, what: string) => {
  for (const deadlineMs = performance.now() + 10_000; !condition(); ) {
    assert.ok(performance.now() < deadlineMs, `expected within 10 s: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

describe("the live feeds of a process", () => {
  it("read a run as often for 200 watchers as for one, and send every event to each", async () => {
    const run = new StoredRun();
    const feeds = new RunFeeds(run.read);
    run.add(3);
    const watchers = await Promise.all(Array.from({ length: 200 }, () => Watcher.open(feeds)));
    assert.equal(run.reads, 1, `expected 1 read for 200 watchers, found ${run.reads}`);
    run.add(2);
    run.document = { ...run.document, status: "finished" };
    await until(() => watchers.every(({ isOver }) => isOver), "200 finished streams");
    assert.equal(run.reads, 2, `expected a second read for the end, found ${run.reads} reads`);
    for (const { events, ids } of watchers) {
      assert.deepEqual(ids, [1, 2, 3, 4, 5]);
      assert.equal(events[0]?.event, "run");
      assert.equal(events.at(-1)?.event, "finished");
    }
    assert.equal(feeds.size, 0, "expected no feed after the last watcher left");
  });

  it("send a late watcher the past from memory, and one that reconnects only what it does not have", async () => {
    const run = new StoredRun();
    const feeds = new RunFeeds(run.read);
    run.add(4);
    const first = await Watcher.open(feeds);
    const [late, again] = [await Watcher.open(feeds), await Watcher.open(feeds, 3)];
    await until(() => late.ids.length === 4 && again.ids.length === 1, "the past");
    assert.equal(run.reads, 1);
    assert.deepEqual(again.ids, [4]);
    for (const watcher of [first, late, again]) watcher.closing.abort();
    await until(() => feeds.size === 0, "the end of the feed");
  });

  it("keep their watchers while the database is down", async () => {
    const run = new StoredRun();
    const feeds = new RunFeeds(run.read);
    const watcher = await Watcher.open(feeds);
    run.fails = true;
    await until(() => run.reads === 2, "a read that fails");
    run.fails = false;
    run.add(1);
    await until(() => watcher.ids.length === 1, "the sample after the outage");
    assert.equal(watcher.isOver, false);
    watcher.closing.abort();
    await until(() => feeds.size === 0, "the end of the feed");
  });

  it("answer not_found for an unknown run, and keep nothing of it", async () => {
    const run = new StoredRun();
    const feeds = new RunFeeds(run.read);
    const request = { id: "run-2", afterSeq: 0, clientClosed: new AbortController().signal };
    await assert.rejects(feeds.watch(request), { code: "not_found" });
    assert.equal(feeds.size, 0);
  });

  it("answer 503 with a Retry-After above the limit, and admit a watcher again when another leaves", async () => {
    const run = new StoredRun();
    const feeds = new RunFeeds(run.read);
    const opened = await Promise.allSettled(Array.from({ length: MAX_STREAMS + 30 }, () => Watcher.open(feeds)));
    const watchers = opened.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    const errors = opened.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    assert.equal(watchers.length, MAX_STREAMS);
    assert.ok(errors.every((error) => isHttpError(error) && error.code === "too_many_streams"));
    watchers[0]?.closing.abort();
    watchers.push(await Watcher.open(feeds));
    for (const watcher of watchers) watcher.closing.abort();
    await until(() => feeds.size === 0, "the end of the feed");
  });
});

describe("an event stream", () => {
  it("cuts off a client that takes no bytes", async () => {
    let ended = 0;
    const server = createServer((request, response) => {
      const megabyte = "x".repeat(1_000_000);
      async function* events() {
        for (;;) yield megabyte;
      }
      const clientClosed = new AbortController();
      response.once("close", () => clientClosed.abort());
      const end = () => (ended += 1);
      const answer = eventStream({ clientClosed: clientClosed.signal, events, end });
      sendChunks(request, response, { answer, isCompressed: false, stallLimitMs: 200 }).catch(() => undefined);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => undefined);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await until(() => ended === 1, "the end of the stalled stream");
    socket.destroy();
    server.close();
  });
});
