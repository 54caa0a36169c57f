import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { FAULT_IDS } from "@/lib/faults/ids";
import { traitsOf } from "@/lib/stock/stock-strategies";
import { configFromQuery } from "../run-config";
import { faultsOf } from "./strategy-faults";

const DEFAULTS = { nodes: 3, engine: "builtin" } as const;
const LAB = {
  nodes: ["node-1", "node-2", "node-3"].map((name) => ({ name, url: "" })),
  engines: [],
  faults: FAULT_IDS.map((id) => ({ id, does: "", topology: null, reasonsAgainst: {} })),
};
const faultOf = (strategy: string, id: string) => faultsOf(traitsOf(strategy), LAB).find((fault) => fault.id === id);

describe("the faults on the page of a strategy", () => {
  it("are all faults, each with the expected effect and a reason", () => {
    const faults = faultsOf(traitsOf("redis-lock"), LAB);
    assert.deepEqual(
      faults.map(({ id }) => id),
      [...FAULT_IDS],
    );
    assert.ok(faults.every(({ reason, does }) => reason.length > 0 && does.length > 0));
    assert.equal(faultOf("redis-lock", "pause-holder")?.expected, "unsafe");
    assert.equal(faultOf("redis-fenced", "pause-holder")?.expected, "safe");
  });

  it("open the Lab with the strategy, the fault and a sale that shows the effect", () => {
    const href = faultOf("redis-lock", "pause-holder")?.tryHref ?? "";
    const query = Object.fromEntries(new URL(href, "http://lab").searchParams);
    const config = configFromQuery(query, DEFAULTS);
    assert.equal(config.strategy, "redis-lock");
    assert.deepEqual(
      config.faults.map(({ id }) => id),
      ["pause-holder"],
    );
    assert.ok(config.ttlMs <= 2_000, `expected a short lease, found ${config.ttlMs} ms`);
  });

  it("have no address if they do not apply, or the lab cannot inject them", () => {
    const faults = LAB.faults.map((fault) => ({ ...fault, reasonsAgainst: { "redis-lock": "no C compiler" } }));
    assert.ok(faultsOf(traitsOf("redis-lock"), { ...LAB, faults }).every(({ tryHref }) => tryHref === null));
    assert.equal(faultOf("none", "pause-holder")?.tryHref, null);
    assert.equal(faultOf("sql-guarded", "pause-holder")?.tryHref, null);
  });
});
