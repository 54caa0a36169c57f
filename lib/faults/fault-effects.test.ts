import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { faultsById } from "./all-faults";
import { type ExpectedResult, expectedInMatrix, expectedResult } from "./fault-effects";
import { FAULT_IDS, type FaultId } from "./ids";

const cells = FAULT_IDS.flatMap((fault) =>
  [...stockStrategies.values()].map(({ traits }) => ({ fault, traits, ...expectedInMatrix(fault, traits) })),
);
const name = ({ fault, traits }: (typeof cells)[number]) => `${traits.id} under ${fault}`;
const expected = (fault: FaultId, strategy: string): ExpectedResult["expected"] =>
  expectedInMatrix(fault, traitsOf(strategy)).expected;
const CUT_OFF: readonly FaultId[] = ["store-node-crash", "timeout", "reset_peer", "down", "commit-reply-lost"];

describe("the expected result of a cell of the fault matrix", () => {
  it("has a reason for people: a sentence, or a clause if the fault does not apply", () => {
    for (const cell of cells) {
      const form = cell.expected === "not applicable" ? /^[a-z][^.]+$/ : /^[A-Z].+\.$/;
      assert.match(cell.reason, form, name(cell));
    }
  });

  it("is the same in the matrix as in a sale with the default lease", () => {
    const shown = cells.filter(({ fault, traits }) => {
      const notShown = faultsById[fault].whyNotInMatrix?.(traits) ?? null;
      return traits.expected.threeNodes === "safe" && notShown === null;
    });
    for (const cell of shown) {
      assert.equal(cell.expected, expectedResult(cell.fault, cell.traits).expected, name(cell));
    }
  });

  it("is not applicable to a strategy that is unsafe without a fault", () => {
    for (const id of ["none", "local-mutex", "sql-decrement"]) {
      const { expected: found, reason } = expectedInMatrix("latency", traitsOf(id));
      assert.deepEqual([found, reason], ["not applicable", "it is unsafe on three nodes without a fault"]);
    }
  });

  it("is not applicable if chance decides the effect", () => {
    for (const strategy of ["redis-setnx", "redis-getset"]) {
      assert.match(expectedInMatrix("store-node-crash", traitsOf(strategy)).reason, /chance; kill-holder kills/);
    }
    for (const fault of ["store-node-crash", "down", "reset_peer", "timeout"] as const) {
      const { reason } = expectedInMatrix(fault, traitsOf("redis-setnx-expire"));
      assert.match(reason, /^whether it falls between SETNX and PEXPIRE is chance; kill-between-setnx-expire/);
    }
    assert.equal(expected("commit-reply-lost", "redis-setnx-expire"), "safe");
    assert.equal(expected("store-node-crash", "redis-lock"), "safe");
  });

  it("is safe for a counter outside PostgreSQL, because the journal names the units of cut-off purchases", () => {
    for (const strategy of ["redis-decrement", "redis-watch", "memcached-cas"]) {
      for (const fault of CUT_OFF) {
        const found = expectedInMatrix(fault, traitsOf(strategy));
        assert.deepEqual([found.expected, /journal/.test(found.reason)], ["safe", true], `${strategy} under ${fault}`);
      }
      assert.equal(expected("latency", strategy), "safe");
    }
  });

  it("follows from the traits of the strategy", () => {
    assert.equal(expected("pause-holder", "redis-lock"), "unsafe");
    assert.equal(expected("pause-holder", "redis-fenced"), "safe");
    assert.equal(expected("slow-work", "redis-set-px"), "unsafe");
    assert.equal(expected("kill-holder", "redis-setnx"), "blocked");
    assert.equal(expected("pause-holder", "redis-getset"), "unsafe");
    assert.equal(expected("slow-work", "redis-getset"), "unsafe");
    assert.equal(expected("down", "redis-setnx"), "blocked");
    assert.equal(expected("redis-restart", "redis-decrement"), "safe");
    assert.equal(expected("memcached-flush", "memcached-cas"), "blocked");
    assert.equal(expected("redlock-node-restart", "redlock"), "unsafe");
  });

  it("has a sale in which each of three nodes has a holder at work after the fault is due, in any order of the buyers", () => {
    for (const fault of ["pause-holder", "slow-work", "kill-holder", "session-expiry"] as const) {
      for (const { traits, expected: effect } of cells.filter((cell) => cell.fault === fault)) {
        const { stock, vus, holdMs, faultAtMs } = faultsById[fault].matrixSale(traits);
        if (effect === "not applicable" || vus === undefined) continue;
        assert.ok(stock >= vus, `${traits.id} under ${fault}: ${vus} buyers for ${stock} units`);
        const workBeforeLastMs = (Math.floor(vus / 3) - 1) * holdMs;
        assert.ok(workBeforeLastMs > faultAtMs, `${traits.id} under ${fault}: ${workBeforeLastMs} ms of work`);
      }
    }
  });

  it("has a sale with a lease that outlasts its work and a fault within its load", () => {
    for (const { fault, traits } of cells) {
      const sale = faultsById[fault].matrixSale(traits);
      assert.ok(sale.holdMs < sale.ttlMs, `${fault}: holds of ${sale.holdMs} ms, a lease of ${sale.ttlMs} ms`);
      assert.ok(sale.faultAtMs < (sale.durationMs ?? Infinity), `${fault} begins after the load`);
      const isKill = fault === "kill-holder" || fault === "kill-between-setnx-expire";
      if (isKill && expectedInMatrix(fault, traits).expected === "blocked") {
        const lastArrivalMs = (sale.durationMs ?? 0) - sale.faultAtMs;
        assert.ok(lastArrivalMs >= 1_500, `${fault}: the last buyer arrives ${lastArrivalMs} ms after the fault`);
      }
      assert.ok((sale.vus === undefined) !== (sale.rate === undefined), `${fault} needs vus or rate`);
    }
  });
});
