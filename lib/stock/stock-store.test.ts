import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Pool } from "pg";
import { isLockError } from "../locks/errors";
import type { StatementName } from "./stock-sql";
import { type Statement, StockStore } from "./stock-store";
import type { StockRequest } from "./types";

const request: StockRequest = {
  target: { kind: "product", id: 1 },
  quantity: 1,
  buyerId: "buyer",
  runId: null,
  holdMs: 0,
  ttlMs: 1_000,
  waitTimeoutMs: 0,
  trace: { opId: "op", invokedNs: 0n },
};

/** A connection that breaks under every statement. */
const broken = { query: () => Promise.reject(new Error("Connection terminated unexpectedly")), release: () => {} };
const store = new StockStore({ connect: async () => broken } as unknown as Pool, "node-1");

async function failureOf(name: StatementName, tx: unknown) {
  const statement: Statement = { name, values: [], strategyId: "none", tx: tx as Statement["tx"] };
  const [settled] = await Promise.allSettled([store.run(request, statement)]);
  assert.ok(settled.status === "rejected" && isLockError(settled.reason));
  const { code, isDefinite } = settled.reason;
  return { code, isDefinite };
}

describe("a statement whose reply is lost", () => {
  const open = { code: "outcome_unknown", isDefinite: false };
  const failed = { code: "backend_unavailable", isDefinite: true };

  it("may have sold when it writes, whether a lock without a transaction says so with null or with nothing", async () => {
    assert.deepEqual(await failureOf("writeAbsolute", null), open);
    assert.deepEqual(await failureOf("writeFenced", null), open);
    assert.deepEqual(await failureOf("takeGuarded", undefined), open);
  });

  it("has sold nothing when it only reads", async () => {
    assert.deepEqual(await failureOf("read", null), failed);
    assert.deepEqual(await failureOf("readFenced", null), failed);
  });

  it("has sold nothing when its transaction is yet to be committed", async () => {
    assert.deepEqual(await failureOf("writeAbsolute", broken), failed);
  });
});
