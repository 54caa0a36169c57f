import { gzipSync } from "node:zlib";
import pg from "pg";
import type { HistoryOpLine } from "../../history/types";
import { runDocument } from "./run-fixture";

/** Writes an ended run of any length into the database. Its page needs nothing else. */

/** Larger than the integers that a double represents exactly. */
const ORIGIN_NS = 9_007_199_254_740_993n;
/** Time from the origin to the first request, and from each request to its grant. */
const REQUEST_LEAD_US = 5_000;
const NODES = ["node-1", "node-2", "node-3"] as const;
const SOLD = 201;
const STOCK = 200;
const TURN_US = 60;
const HOLD_US = 50;
/** This purchase is granted while the one before holds the lock: it reads the same stock and overwrites its update. */
export const INTRUDER = 100;

/** Buyers who hold the lock one after the other, except for the intruder. The first 201 buy, the others find the stock sold out. */
export function longHistory(operations: number): HistoryOpLine[] {
  return Array.from({ length: operations }, (_, index): HistoryOpLine => {
    const isIntruder = index === INTRUDER;
    const grantedUs = 2 * REQUEST_LEAD_US + index * TURN_US - (isIntruder ? TURN_US - 10 : 0);
    const at = (us: number) => String(BigInt(grantedUs + us) * 1_000n + ORIGIN_NS);
    const isSold = index < SOLD;
    const readValue = Math.max(0, index < INTRUDER ? STOCK - index : STOCK - index + 1);
    const base = {
      type: "op",
      opId: `op-${index}`,
      node: NODES[index % NODES.length] ?? "node-1",
      host: "h",
      buyerId: `buyer-${index}`,
      quantity: 1,
      invokedNs: at(-REQUEST_LEAD_US),
      waitNs: at(-4_900),
      grantedNs: at(0),
      readNs: at(15),
      readValue,
      releasedNs: at(HOLD_US),
      answeredNs: at(HOLD_US + 5),
    } as const;
    if (!isSold) return { ...base, outcome: "sold_out" };
    const wrote = { writeNs: at(30), writtenValue: readValue - 1, writeAccepted: true, committedNs: at(45) };
    return { ...base, ...wrote, outcome: "sold" };
  });
}

/** A fault; times are milliseconds after the first request. */
export interface StoredFault {
  readonly faultId: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export async function storeRun(
  databaseUrl: string,
  operations: number,
  faults: readonly StoredFault[] = [],
): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query("BEGIN");
    const id = `stored-${operations}-${process.pid}-${Date.now().toString(36)}`;
    await insert(client, { id, ops: longHistory(operations), faults });
    await client.query("COMMIT");
    return id;
  } finally {
    await client.end();
  }
}

interface Stored {
  readonly id: string;
  readonly ops: readonly HistoryOpLine[];
  readonly faults: readonly StoredFault[];
}

async function insert(client: pg.Client, { id, ops, faults }: Stored): Promise<void> {
  const product = await client.query(
    "INSERT INTO products (slug, name, price_cents, stock, run_id) VALUES ($1, $1, 1, 0, $1) RETURNING id",
    [id],
  );
  const targetId = (product.rows[0] as { id: number }).id;
  const sold = ops.filter(({ outcome }) => outcome === "sold");
  await client.query(
    `INSERT INTO orders (product_id, user_id, quantity, op_id, run_id, node, strategy)
     SELECT $1, buyer, 1, op, $2, 'node-1', 'redis-lock'
     FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS rows (buyer, op, place) ORDER BY place`,
    [targetId, id, sold.map(({ buyerId }) => buyerId), sold.map(({ opId }) => opId)],
  );
  const clock = { host: "h", startedNs: String(ORIGIN_NS) };
  const counts = { requests: ops.length, sold: sold.length };
  const document = { ...documentOf(id, targetId, counts), clock, faults: faults.map(faultOf) };
  await client.query(
    `INSERT INTO runs (id, strategy, status, verdict, config, document, deadline_at, finished_at, closing_orders)
     VALUES ($1, 'redis-lock', 'finished', 'unsafe', $2, $3, now(), now(),
       (SELECT array_agg(orders.id) FROM orders WHERE run_id = $1))`,
    [id, JSON.stringify(document.config), JSON.stringify(document)],
  );
  for (const node of NODES) {
    const lines = ops.filter((op) => op.node === node).map((op) => `${JSON.stringify(op)}\n`);
    await client.query(
      "INSERT INTO run_histories (run_id, node, operations, dropped, ndjson_gzip) VALUES ($1, $2, $3, 0, $4)",
      [id, node, lines.length, gzipSync(lines.join(""), { level: 1 })],
    );
  }
}

function faultOf({ faultId, fromMs, toMs }: StoredFault) {
  const at = (ms: number) => String(ORIGIN_NS + BigInt(Math.round(REQUEST_LEAD_US * 1_000 + ms * 1e6)));
  return { faultId, fromNs: at(fromMs), toNs: at(toMs), proof: `made by a test, ${toMs - fromMs} ms` };
}

function documentOf(id: string, targetId: number, { requests, sold }: { requests: number; sold: number }) {
  const base = runDocument();
  return runDocument({
    id,
    target: { kind: "product", id: targetId },
    config: { ...base.config, stock: STOCK, vus: requests },
    counts: { ...base.counts, requests, sold, soldOut: requests - sold },
    stock: { initial: STOCK, final: 0, orders: sold },
    verdict: "unsafe",
    sentences: ["201 units ordered from a stock of 200: 1 cannot be delivered."],
    violations: { ...base.violations, oversold: 1, lostUpdates: 1, overlappingHolds: 1 },
    startedAtEpochMs: Date.now(),
  });
}
