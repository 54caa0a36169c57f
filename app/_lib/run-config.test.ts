import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { FAULT_IDS } from "../../lib/faults/ids";
import type { FaultRequest } from "../../lib/faults/request";
import { newDocument } from "../../lib/runs/new-document";
import { runRequestSchema } from "../../lib/runs/run-request";
import {
  configFromQuery,
  configOfRun,
  DEFAULT_CONFIG,
  NUMERIC_SETTINGS,
  type NumericSetting,
  problemWith,
  queryOf,
  runRequestOf,
  type SaleConfig,
  SETTINGS,
  settingOfField,
} from "./run-config";

const defaults = { nodes: 3, engine: "k6" } as const;
const within = (setting: NumericSetting) => fc.integer({ min: SETTINGS[setting].min, max: SETTINGS[setting].max });
const faults: fc.Arbitrary<FaultRequest> = fc.record(
  {
    id: fc.constantFrom(...FAULT_IDS),
    atMs: fc.integer({ min: 0, max: 600_000 }),
    durationMs: fc.integer({ min: 100, max: 15_000 }),
    node: fc.constantFrom("node-1", "node-2"),
    server: fc.constantFrom("postgres", "redis"),
  },
  { requiredKeys: ["id"], noNullPrototype: true },
);
const configs: fc.Arbitrary<SaleConfig> = fc.record(
  {
    strategy: fc.constantFrom("none", "sql-guarded", "zk-mutex"),
    target: fc.constantFrom("product" as const, "coupon" as const),
    stock: within("stock"),
    arrival: fc.constantFrom("together" as const, "rate" as const),
    buyers: within("buyers"),
    rate: within("rate"),
    durationMs: within("durationMs"),
    holdMs: within("holdMs"),
    ttlMs: within("ttlMs"),
    waitTimeoutMs: within("waitTimeoutMs"),
    nodes: within("nodes"),
    engine: fc.constantFrom("k6" as const, "builtin" as const),
    seed: within("seed"),
    fencing: fc.boolean(),
    faults: fc.array(faults, { maxLength: 4 }),
  },
  { noNullPrototype: true },
);

describe("settings in the URL", () => {
  it("round-trip through the query", () => {
    fc.assert(
      fc.property(configs, (config) => {
        const query = Object.fromEntries(new URLSearchParams(queryOf(config)));
        const { rate, durationMs, buyers } = DEFAULT_CONFIG;
        // The URL omits the settings that do not apply to the arrival.
        const idle = config.arrival === "rate" ? { buyers } : { rate, durationMs };
        assert.deepEqual(configFromQuery(query, { nodes: 16, engine: "k6" }), { ...config, ...idle });
      }),
    );
  });

  it("fall back to defaults if missing, repeated, malformed or out of bounds", () => {
    assert.deepEqual(configFromQuery({}, defaults), DEFAULT_CONFIG);
    const wrong = {
      stock: "0",
      buyers: ["1", "2"],
      holdMs: "5ms",
      nodes: "-1",
      strategy: "<b>",
      engine: "wrk",
      fault: "no-such",
    };
    assert.deepEqual(configFromQuery(wrong, defaults), DEFAULT_CONFIG);
  });

  it("request no more nodes than the lab has", () => {
    assert.equal(configFromQuery({ nodes: "8" }, defaults).nodes, 3);
  });

  it("use the lab's engine if the query names none", () => {
    assert.equal(configFromQuery({}, { nodes: 3, engine: "builtin" }).engine, "builtin");
  });
});

describe("run request", () => {
  it("passes the API's schema for every configuration that the page allows", () => {
    fc.assert(fc.property(configs, (config) => runRequestSchema.safeParse(runRequestOf(config)).success));
  });

  it("matches the configuration of the run that it opens", () => {
    fc.assert(
      fc.property(configs, (config) => {
        const request = runRequestSchema.parse(runRequestOf(config));
        const target = { kind: config.target, id: 7 };
        const document = newDocument({
          id: "r",
          request,
          target,
          nodes: config.nodes,
          expected: "safe",
          versions: {},
        });
        assert.equal(queryOf(configOfRun(document)), queryOf(config));
      }),
    );
  });

  it("has the same bounds as the API", () => {
    for (const setting of NUMERIC_SETTINGS) {
      const { min, max } = SETTINGS[setting];
      for (const [value, accepted] of [
        [min, true],
        [max, true],
        [min - 1, false],
        [max + 1, false],
      ] as const) {
        const arrival = setting === "rate" || setting === "durationMs" ? "rate" : "together";
        const config = { ...DEFAULT_CONFIG, arrival, [setting]: value } as const;
        assert.equal(runRequestSchema.safeParse(runRequestOf(config)).success, accepted, `${setting} = ${value}`);
        assert.equal(problemWith(setting, String(value), 16) === null, accepted, `${setting} = ${value}`);
      }
    }
  });

  it("rejects blanks and fractions and names the bounds", () => {
    assert.equal(problemWith("stock", "", 3), "a whole number from 1 to 1,000,000");
    assert.equal(problemWith("holdMs", "2.5", 3), "a whole number from 0 to 10,000 ms");
    assert.equal(problemWith("nodes", "4", 3), "a whole number from 1 to 3");
  });
});

describe("settingOfField", () => {
  it("maps the field of an API error to a setting", () => {
    assert.equal(settingOfField("vus"), "buyers");
    assert.equal(settingOfField("holdMs"), "holdMs");
    assert.equal(settingOfField("target.kind"), "target");
    assert.equal(settingOfField("faults.0.node"), "faults");
    assert.equal(settingOfField("constructor"), null);
  });
});
