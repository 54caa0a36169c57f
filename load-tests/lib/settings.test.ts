import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { latenessLimitMs as latenessLimitOfLab } from "../../lib/runs/agreement";
import { runRequestSchema } from "../../lib/runs/run-request";
import {
  defaultMaxVus,
  latenessLimitMs,
  mismatchWithRun,
  parseDurationMs,
  readSettings,
  runRequestOf,
} from "./settings.js";

describe("settings of the k6 script", () => {
  it("defaults to 100 units, 500 buyers and 5 ms of work", () => {
    const settings = readSettings({});
    assert.equal(settings.stock, 100);
    assert.equal(settings.buyers, 500);
    assert.equal(settings.holdMs, 5);
    assert.equal(settings.ratePerSecond, null);
    assert.equal(settings.baseUrl, "http://127.0.0.1:3000");
  });

  it("names every invalid variable, and says what is valid", () => {
    const wrong = {
      STOCK: "abc",
      RATE: "0",
      TARGET: "shoe",
      DURATION: "soon",
      STORE_URLS: "nope",
      LOCK_STRATEGY: "A B",
      FENCING: "maybe",
    };
    assert.throws(
      () => readSettings(wrong),
      (error: Error) => {
        for (const name of Object.keys(wrong)) assert.match(error.message, new RegExp(`${name}=`));
        assert.match(error.message, /STOCK="abc": must be a whole number from 1 to 1000000/);
        assert.match(error.message, /TARGET="shoe": must be product or coupon/);
        return true;
      },
    );
  });

  it("has the lab's limit for a generator that falls behind", () => {
    const loads = [1, 500, 1_000, 1_001, 2_000, 20_000].map((buyers) => ({ buyers, ratePerSecond: null }));
    for (const load of [...loads, { buyers: 20_000, ratePerSecond: 500 }]) {
      const { buyers, ratePerSecond: rate } = load;
      assert.equal(latenessLimitMs(load), latenessLimitOfLab({ vus: rate === null ? buyers : null, rate }));
    }
    assert.equal(latenessLimitMs({ buyers: 2_000, ratePerSecond: null }), 4_000);
  });

  for (const text of ["1e3", "-1", "5.5", "0x10", "1001ms"]) {
    it(`rejects STOCK=${text}`, () => {
      assert.throws(() => readSettings({ STOCK: text }), /STOCK/);
    });
  }

  it("treats an empty variable as absent", () => {
    assert.equal(readSettings({ STOCK: "", RATE: " " }).stock, 100);
  });

  it("requests a run without fencing only with FENCING=off", () => {
    assert.equal("fencing" in runRequestOf(readSettings({}), "zk-fenced"), false);
    const request = runRequestOf(readSettings({ FENCING: "off" }), "zk-fenced");
    assert.equal(runRequestSchema.parse(request).fencing, false);
  });

  it("parses durations with and without a unit", () => {
    assert.equal(parseDurationMs("10s"), 10_000);
    assert.equal(parseDurationMs("1.5s"), 1_500);
    assert.equal(parseDurationMs("1m"), 60_000);
    assert.equal(parseDurationMs("750ms"), 750);
    assert.equal(parseDurationMs("750"), 750);
    assert.equal(parseDurationMs("10 s"), null);
    assert.equal(parseDurationMs("1h"), null);
  });

  it("rejects a duration outside its limits", () => {
    assert.throws(() => readSettings({ DURATION: "499ms" }), /DURATION/);
    assert.throws(() => readSettings({ DURATION: "11m" }), /DURATION/);
    assert.equal(readSettings({ DURATION: "10m" }).durationMs, 600_000);
  });

  it("strips the trailing slash of a URL", () => {
    assert.deepEqual(readSettings({ STORE_URLS: "http://a:1/, http://b:2" }).storeUrls, ["http://a:1", "http://b:2"]);
  });

  it("makes valid requests for doors-open and for arrival-rate runs", () => {
    const doorsOpen = runRequestSchema.parse(runRequestOf(readSettings({ BUYERS: "50", NODES: "2" }), "none"));
    assert.equal(doorsOpen.vus, 50);
    assert.equal(doorsOpen.nodes, 2);
    assert.equal(doorsOpen.rate, undefined);
    const settings = readSettings({ RATE: "200", DURATION: "3s", TARGET: "coupon", TARGET_ID: "7" });
    const arrivalRate = runRequestSchema.parse(runRequestOf(settings, "none"));
    assert.equal(arrivalRate.rate, 200);
    assert.equal(arrivalRate.durationMs, 3_000);
    assert.deepEqual(arrivalRate.target, { kind: "coupon", id: 7 });
  });

  it("has the number limits of the lab", () => {
    const limits = { STOCK: "1000000", BUYERS: "20000", HOLD_MS: "10000", TTL_MS: "120000", WAIT_TIMEOUT_MS: "60000" };
    runRequestSchema.parse(runRequestOf(readSettings({ ...limits, NODES: "16", SEED: "2147483647" }), "none"));
    for (const [name, value] of Object.entries(limits)) {
      assert.throws(() => readSettings({ [name]: String(Number(value) + 1) }), new RegExp(name));
    }
  });

  it("detects that an open run has another load", () => {
    assert.equal(mismatchWithRun(readSettings({ BUYERS: "10" }), { vus: 10, rate: null }), null);
    assert.match(mismatchWithRun(readSettings({ BUYERS: "10" }), { vus: 500, rate: null }) ?? "", /BUYERS is 10/);
    assert.match(mismatchWithRun(readSettings({}), { vus: null, rate: 100 }) ?? "", /RATE is not set/);
    assert.equal(mismatchWithRun(readSettings({ RATE: "100" }), { vus: null, rate: 100 }), null);
  });

  it("creates a virtual user for every purchase that may be in flight, up to a limit", () => {
    assert.equal(defaultMaxVus({ ratePerSecond: 1, durationMs: 1_000, waitTimeoutMs: 0 }), 20);
    assert.equal(defaultMaxVus({ ratePerSecond: 100, durationMs: 2_000, waitTimeoutMs: 10_000 }), 200);
    assert.equal(defaultMaxVus({ ratePerSecond: 5_000, durationMs: 10_000, waitTimeoutMs: 10_000 }), 1_000);
  });
});
