import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import { after, before, describe, it } from "node:test";
import { MAX_STREAMS } from "../../../lib/http/sse";
import { requireEnv } from "../../support/lab-env";
import { createOwnDatabase, type OwnDatabase } from "../../support/own-database";
import { RawClient } from "../../support/raw-request";
import { ShopNode } from "../../support/shop-node";
import { waitUntil } from "../../support/wait-until";

requireEnv("DATABASE_URL");

const WATCHERS = 200;
/** Pairs of a round without and a round with watchers. */
const ROUNDS = 12;
const BUYERS = 4;
const PURCHASES_EACH = 25;
const READS = 15;

/** Medians of one round. */
interface Round {
  readonly purchaseMs: number;
  readonly readMs: number;
}

interface Run {
  readonly id: string;
  readonly productId: number;
  readonly key: string;
}

describe("watchers of a run", () => {
  let database: OwnDatabase;
  let node: ShopNode;
  let dashboard: ShopNode;
  let run: Run;
  let watchers: Watchers;

  before(async () => {
    database = await createOwnDatabase();
    const env = { DATABASE_URL: database.url };
    node = await ShopNode.start({ name: "watched", strategy: "sql-guarded", env });
    const nodes = { ...env, STORE_NODES: `watched=${node.url}` };
    dashboard = await ShopNode.start({ name: "dashboard", strategy: "sql-guarded", env: nodes });
    run = await openRun();
    watchers = new Watchers(Number(new URL(dashboard.url).port), `/api/runs/${run.id}/events`);
  });
  after(async () => {
    watchers?.close();
    await dashboard?.[Symbol.asyncDispose]();
    await node?.[Symbol.asyncDispose]();
    await database?.[Symbol.asyncDispose]();
  });

  async function openRun(): Promise<Run> {
    const response = await fetch(`${dashboard.url}/api/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ strategy: "sql-guarded", stock: 1_000_000, rate: 200, durationMs: 600_000, holdMs: 0 }),
    });
    const document = (await response.json()) as { id: string; target: { id: number } };
    assert.equal(response.status, 201, JSON.stringify(document));
    return { id: document.id, productId: document.target.id, key: response.headers.get("x-run-key") ?? "" };
  }

  /** The buyers purchase one after the other while a page reads the run at the dashboard. */
  async function sell(clients: { readonly node: RawClient; readonly dashboard: RawClient }): Promise<Round> {
    const { id, productId, key } = run;
    const headers = { "content-type": "application/json", "x-run-id": id, "x-run-key": key };
    const purchase = {
      method: "POST",
      path: `/api/products/${productId}/reduce-stock`,
      headers,
      body: '{"userId":"u"}',
    };
    const read = { method: "GET", path: `/api/runs/${id}` };
    const purchases: number[] = [];
    const reads: number[] = [];
    const buyer = async () => {
      for (let sent = 0; sent < PURCHASES_EACH; sent += 1) purchases.push(await timed(clients.node, purchase));
    };
    const reader = async () => {
      for (let sent = 0; sent < READS; sent += 1) reads.push(await timed(clients.dashboard, read));
    };
    await Promise.all([...Array.from({ length: BUYERS }, buyer), reader()]);
    return { purchaseMs: median(purchases), readMs: median(reads) };
  }

  it(`cost nothing: a sale and a reader beside ${WATCHERS} are as fast as without`, async (t) => {
    const portOf = ({ url }: ShopNode) => Number(new URL(url).port);
    const clients = { node: new RawClient(portOf(node), BUYERS), dashboard: new RawClient(portOf(dashboard), 1) };
    const without: Round[] = [];
    const beside: Round[] = [];
    await sell(clients);
    for (let round = 0; round < ROUNDS; round += 1) {
      without.push(await sell(clients));
      await watchers.open(WATCHERS);
      beside.push(await sell(clients));
      assert.equal(watchers.count, WATCHERS, "expected every watcher to stay connected");
      watchers.close();
    }
    for (const client of Object.values(clients)) client[Symbol.dispose]();
    const valuesOf = (figure: keyof Round) => [without, beside].map((rounds) => rounds.map((round) => round[figure]));
    const [alone = [], watched = []] = valuesOf("purchaseMs");
    const spread = describeRounds("purchase", alone, watched);
    t.diagnostic(spread);
    assert.ok(
      median(watched) <= Math.max(...alone),
      `expected the median beside watchers within the spread; ${spread}`,
    );
    const [readAlone = [], readWatched = []] = valuesOf("readMs");
    const reads = describeRounds("read at the dashboard", readAlone, readWatched);
    t.diagnostic(reads);
    // The dashboard also sends the watchers their figures, so only a multiple is too much.
    const limitMs = Math.max(...readAlone, 2 * median(readAlone));
    assert.ok(median(readWatched) <= limitMs, `expected a median of at most ${limitMs} ms; ${reads}`);
  });

  it("beyond the limit get 503 with Retry-After, and the others keep their streams", async () => {
    await watchers.open(MAX_STREAMS);
    const refused = await fetch(`${dashboard.url}/api/runs/${run.id}/events`);
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get("retry-after"), "10");
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    assert.equal(error.code, "too_many_streams");
    assert.match(error.message, new RegExp(`${MAX_STREAMS} event streams`));
    assert.equal(watchers.count, MAX_STREAMS);
    watchers.close();
    const isServed = async () => {
      const response = await fetch(`${dashboard.url}/api/runs/${run.id}/events`);
      await response.body?.cancel();
      return response.status === 200;
    };
    await waitUntil(isServed, { what: "a stream after the others have closed" });
  });

  it("get each event when it happens, also if they accept compressed answers", async () => {
    const response = await fetch(`${dashboard.url}/api/runs/${run.id}/events`, {
      headers: { "accept-encoding": "gzip" },
      signal: AbortSignal.timeout(10_000),
    });
    assert.equal(response.headers.get("content-encoding"), null);
    const { value } = (await response.body?.getReader().read()) ?? {};
    assert.match(Buffer.from(value ?? []).toString(), /^event: run\n/);
  });
});

/** Clients that read a stream and discard it. */
class Watchers {
  readonly #agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  readonly #open = new Set<ClientRequest>();
  readonly #target: { readonly port: number; readonly path: string };

  constructor(port: number, path: string) {
    this.#target = { port, path };
  }

  get count(): number {
    return this.#open.size;
  }

  /** Opens streams until there are so many; each has received its first event. */
  async open(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count - this.count }, () => this.#connect()));
  }

  close(): void {
    for (const sent of this.#open) sent.destroy();
    this.#open.clear();
  }

  async #connect(): Promise<void> {
    const sent = request({ host: "127.0.0.1", agent: this.#agent, ...this.#target });
    this.#open.add(sent);
    sent.on("error", () => this.#open.delete(sent)).on("close", () => this.#open.delete(sent));
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    assert.equal(response.statusCode, 200);
    response.on("error", () => undefined);
    await once(response, "data");
    response.resume();
  }
}

async function timed(client: RawClient, sent: Parameters<RawClient["send"]>[0]): Promise<number> {
  const startedMs = performance.now();
  const { status, body } = await client.send(sent);
  assert.ok(status < 300, body);
  return performance.now() - startedMs;
}

function describeRounds(what: string, without: readonly number[], beside: readonly number[]): string {
  const [alone, watched] = [median(without), median(beside)];
  const inMs = (values: readonly number[]) => values.map((value) => value.toFixed(1)).join(" ");
  return `${what}: median ${alone.toFixed(1)} ms without, ${watched.toFixed(1)} ms beside ${WATCHERS} watchers, ratio ${(watched / alone).toFixed(2)} (without: ${inMs(without)}; beside: ${inMs(beside)})`;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2;
}
