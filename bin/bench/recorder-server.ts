import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { apiListener } from "../../lib/http/node-adapter";
import { closeLockClients, lockDependencies } from "../../lib/node/lock-dependencies";
import { Recorder } from "../../lib/node/recorder";
import { Spool } from "../../lib/node/spool";
import { HISTORY_CAPACITY, StoreNode } from "../../lib/node/store-node";
import { env } from "../../lib/services/current-env";
import { postgresPool } from "../../lib/services/postgres";
import { processSingleton } from "../../lib/services/singleton";
import { createStockStrategy } from "../../lib/stock/stock-strategies";
import type { OperationTrace } from "../../lib/stock/types";
import type { BlockOrder, BlockReport } from "./blocks";

/**
 * The store node of `npm run bench`: it serves only the hot routes. It can give its recorder no capacity, so that every
 * operation is dropped. Nodes of the lab have no such switch, because it would make every run inconclusive.
 */

let hasRoom = true;
const spool = new Spool(path.join(".lab", "bench", "spool"));

const node = processSingleton(
  "store-node",
  () =>
    new StoreNode({
      name: "bench",
      activeStrategy: env().LOCK_STRATEGY,
      createStrategy: (id) =>
        createStockStrategy(id, { pool: postgresPool(), node: "bench", locks: lockDependencies() }),
      defaults: { holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 10_000 },
      spool,
      historyCapacity: () => (hasRoom ? HISTORY_CAPACITY : 0),
    }),
);

let blockCpu = process.cpuUsage();

/** Creates a product and opens a block of purchases of it. */
async function open({ runId, strategy, stock, isRecording }: BlockOrder): Promise<{ targetId: number }> {
  const row = await postgresPool().query(
    "INSERT INTO products (slug, name, price_cents, stock, run_id) VALUES ($1, $1, 100, $2, $1) RETURNING id",
    [runId, stock],
  );
  const { id } = row.rows[0] as { id: number };
  const target = { kind: "product", id } as const;
  await node.prepare(runId, { strategy, target, stock });
  hasRoom = isRecording;
  node.assign({ runId, strategy, target, holdMs: 0, ttlMs: 5_000, waitTimeoutMs: 10_000 });
  // The garbage of the block before must not count for this one.
  globalThis.gc?.();
  blockCpu = process.cpuUsage();
  return { targetId: id };
}

async function close(runId: string): Promise<BlockReport> {
  const { user, system } = process.cpuUsage(blockCpu);
  const stats = node.stats(runId);
  node.close(runId);
  const target = node.run(runId)?.assignment.target;
  await postgresPool().query("DELETE FROM orders WHERE product_id = $1", [target?.id ?? 0]);
  await postgresPool().query("DELETE FROM products WHERE id = $1", [target?.id ?? 0]);
  return { cpuUs: user + system, recorded: stats?.recorded ?? 0, dropped: stats?.dropped ?? 0, counts: stats?.counts };
}

const TIMED_OPERATIONS = 20_000;
const TIMED_ROUNDS = 25;

/** Nanoseconds of CPU time per operation, by round: recording, writing it to the spool, and the garbage collection after it. */
async function timeRecording(): Promise<number[]> {
  const rounds: number[] = [];
  for (let round = 0; round < TIMED_ROUNDS; round += 1) {
    const traces = Array.from({ length: TIMED_OPERATIONS }, soldTrace);
    globalThis.gc?.();
    const before = process.cpuUsage();
    let recorder: Recorder | null = new Recorder({ node: "bench", host: "bench", capacity: HISTORY_CAPACITY });
    recorder.spool = spool.open("timed", recorder);
    for (const trace of traces) recorder.record(trace, { buyerId: trace.opId, quantity: 1, outcome: "sold" });
    await recorder.spool?.end();
    recorder = null;
    globalThis.gc?.();
    const { user, system } = process.cpuUsage(before);
    rounds.push(((user + system) * 1_000) / TIMED_OPERATIONS);
  }
  spool.forget("timed");
  return rounds;
}

/** As long in a history as that of a purchase which sold. */
function soldTrace(): OperationTrace {
  const trace = node.newTrace();
  const atNs = trace.invokedNs;
  const waited = { waitNs: atNs, grantedNs: atNs, readNs: atNs, readValue: 1_000, writeNs: atNs, writtenValue: 999 };
  return Object.assign(trace, waited, { writeAccepted: true, committedNs: atNs, releasedNs: atNs, answeredNs: atNs });
}

const server = createServer(apiListener);

interface Message {
  readonly open?: BlockOrder;
  readonly close?: string;
  readonly timeRecording?: true;
  readonly end?: true;
}

process.on("message", (message: Message) => {
  const answer = message.open
    ? open(message.open)
    : message.close
      ? close(message.close)
      : message.timeRecording
        ? timeRecording()
        : end();
  answer.then(
    (value) => process.send?.({ value }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.once("disconnect", () => process.exit(0));

async function end(): Promise<null> {
  server.closeAllConnections();
  server.close();
  await node[Symbol.asyncDispose]();
  await closeLockClients();
  await postgresPool().end();
  setImmediate(() => process.disconnect?.());
  return null;
}

server.listen({ port: 0, host: "127.0.0.1" }, () => {
  process.send?.({ value: (server.address() as AddressInfo).port });
});
