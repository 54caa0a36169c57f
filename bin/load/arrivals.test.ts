// @alone: it waits for timers, and other files need not wait for it.
import assert from "node:assert/strict";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, it } from "node:test";
import { clientReportSchema } from "../../lib/runs/client-report";
import { waitUntil } from "../../tests/support/wait-until";
import { arriveAtRate, openDoors } from "./arrivals";
import { createPool, type Sale } from "./purchase";
import { Tally } from "./tally";

interface SeenRequest {
  readonly at: number;
  readonly url: string;
  readonly runId: string | undefined;
  readonly userId: string;
}

/** A fake store node, one per test: records requests, and answers after `delayMs` or closes the connection. */
class Store {
  readonly seen: SeenRequest[] = [];
  connections = 0;
  delayMs = 0;
  closesConnections = false;
  holdsAnswers = false;
  private readonly held: ServerResponse[] = [];
  private readonly server: Server;

  constructor() {
    this.server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      if (request.url === "/healthz") {
        response.end("{}");
        return;
      }
      const runId = request.headers["x-run-id"] as string | undefined;
      const { userId } = JSON.parse(body) as { userId: string };
      this.seen.push({ at: performance.now(), url: request.url ?? "", runId, userId });
      if (this.closesConnections) request.socket.destroy();
      else if (this.holdsAnswers) this.held.push(response);
      else setTimeout(() => response.writeHead(201).end("{}"), this.delayMs).unref();
    });
    this.server.on("connection", () => {
      this.connections += 1;
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
  }

  get sale(): Sale {
    const url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return {
      runId: "run-1",
      runKey: null,
      storeUrls: [url],
      path: "/api/products/7/reduce-stock",
      seed: 3,
      requestTimeoutMs: 30_000,
    };
  }

  answerAll(): void {
    for (const response of this.held.splice(0)) response.writeHead(201).end("{}");
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }
}

describe("arrivals of the built-in generator", () => {
  let store: Store;
  const open: Store[] = [];
  const newStore = async () => {
    store = new Store();
    open.push(store);
    await store.listen();
    return store;
  };
  before(newStore);
  after(() => {
    for (const each of open) each.close();
  });

  const load = (connections: number, signal = new AbortController().signal) => ({
    sale: store.sale,
    pool: createPool(connections, 1),
    tally: new Tally(),
    signal,
  });
  const reportOf = (tally: Tally, doorsOpen: boolean) =>
    clientReportSchema.parse(tally.report("builtin", { doorsOpen, cpuPercent: 1 }));

  it("sends one purchase per buyer, each with its own user id and connection", async () => {
    await newStore();
    store.delayMs = 50;
    const arrivals = load(40);
    await openDoors(arrivals, { count: 40, connections: 40 });
    assert.equal(new Set(store.seen.map((seen) => seen.userId)).size, 40);
    assert.ok(store.seen.every((seen) => seen.runId === "run-1" && seen.url === "/api/products/7/reduce-stock"));
    assert.equal(store.connections, 40);
    const report = reportOf(arrivals.tally, true);
    assert.equal(report.iterations, 40);
    assert.equal(report.failedRequests, 0);
    assert.ok((report.latencyMs.p50 ?? 0) >= 49, `p50 ${report.latencyMs.p50}`);
    assert.ok((report.arrivalSkewMs ?? -1) >= 0);
    const median = report.curve?.find(({ percentile }) => percentile === 50);
    assert.equal(median?.ms, report.latencyMs.p50);
  });

  it("counts the wait for a connection as latency", async () => {
    await newStore();
    store.delayMs = 100;
    const arrivals = load(2);
    await openDoors(arrivals, { count: 6, connections: 2 });
    const report = reportOf(arrivals.tally, true);
    assert.equal(store.connections, 2);
    assert.ok(
      (report.latencyMs.max ?? 0) >= 290,
      `expected three rounds of 100 ms, found a maximum of ${report.latencyMs.max} ms`,
    );
  });

  it("counts a purchase whose connection was closed as one without an answer", async () => {
    await newStore();
    store.closesConnections = true;
    const arrivals = load(5);
    await openDoors(arrivals, { count: 5, connections: 5 });
    const report = reportOf(arrivals.tally, true);
    assert.equal(report.failedRequests, 5);
    assert.equal(report.latencyMs.p50, null);
  });

  it("times out a purchase that gets no answer", async () => {
    await newStore();
    store.delayMs = 60_000;
    const arrivals = load(1);
    await openDoors({ ...arrivals, sale: { ...store.sale, requestTimeoutMs: 200 } }, { count: 1, connections: 1 });
    assert.equal(reportOf(arrivals.tally, true).failedRequests, 1);
  });

  it("sends purchases at the requested rate", async () => {
    await newStore();
    const arrivals = load(50);
    const startedMs = performance.now();
    // All purchases may be in flight, so that a slow machine drops none.
    await arriveAtRate(arrivals, { ratePerSecond: 100, durationMs: 500, maxInFlight: 50 });
    const report = reportOf(arrivals.tally, false);
    assert.equal(report.iterations, 50);
    assert.equal(report.droppedIterations, 0);
    assert.equal(report.arrivalSkewMs, null);
    // A busy machine may send late, but never early.
    for (const [index, { at }] of store.seen.entries())
      assert.ok(
        at - startedMs >= index * 10 - 2,
        `expected purchase ${index + 1} at ${index * 10} ms or later, found ${at - startedMs} ms`,
      );
  });

  it("drops and counts purchases that are due while too many are in flight", async () => {
    await newStore();
    store.holdsAnswers = true;
    const arrivals = load(5);
    const arriving = arriveAtRate(arrivals, { ratePerSecond: 100, durationMs: 300, maxInFlight: 5 });
    await waitUntil(() => reportOf(arrivals.tally, false).droppedIterations === 25, {
      what: "25 dropped purchases",
    });
    await waitUntil(() => store.seen.length === 5, { what: "the first five requests" });
    store.answerAll();
    await arriving;
    const report = reportOf(arrivals.tally, false);
    assert.equal(report.iterations, 5);
    assert.equal(report.droppedIterations, 25);
    assert.equal(store.seen.length, 5);
  });

  it("sends no purchase after the signal aborts", async () => {
    await newStore();
    const stop = new AbortController();
    const arrivals = load(5, stop.signal);
    const done = arriveAtRate(arrivals, { ratePerSecond: 10, durationMs: 600_000, maxInFlight: 5 });
    stop.abort();
    await done;
    assert.ok(store.seen.length <= 1);
  });
});
