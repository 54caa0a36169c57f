import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { runDocument, runSample } from "../../lib/runs/testing/run-fixture";
import { ANNOUNCE_EVERY_MS, announceDelayMs, summaryOf } from "./announce";
import { messageBesideField, problemOf, problemSentence } from "./api";
import { blockedReason } from "./blocked-reason";
import { DEFAULT_CONFIG } from "./run-config";
import { modelOf, openingModel } from "./run-model";
import { retryDelayMs } from "./run-stream";
import { IDLE_VIEW, reduceRun } from "./run-view";
import { stockBarShares } from "./stock-bar";
import type { CatalogueStrategy } from "./strategy-catalogue";
import { nextTheme, themeCookie, themeFrom } from "./theme";
import { needsText } from "./traits-text";

describe("stock bar", () => {
  it("ends at the stock mark if nothing was oversold", () => {
    const { sold, beyond, end } = stockBarShares(100, 100);
    assert.equal(sold, end);
    assert.equal(beyond, 0);
    assert.ok(end < 100, `expected space after the stock mark, found it at ${end} %`);
  });

  it("extends past the stock mark by the oversold units and stays within 100 %", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.nat(1e6), (initial, orders) => {
        const { sold, beyond, end } = stockBarShares(initial, orders);
        assert.ok(sold <= end + 0.01 && end + beyond <= 100.01);
        if (orders <= initial) assert.equal(beyond, 0);
        else if (orders > initial * 1.001) assert.ok(beyond > 0);
      }),
    );
  });
});

describe("announcements", () => {
  it("are immediate the first time and then at least five seconds apart", () => {
    assert.equal(announceDelayMs(null, 1_000), 0);
    assert.equal(announceDelayMs(1_000, 2_000), ANNOUNCE_EVERY_MS - 1_000);
    assert.equal(announceDelayMs(1_000, 60_000), 0);
  });

  it("give the current counts, and the verdict at the end", () => {
    const running = reduceRun(IDLE_VIEW, { type: "attach", document: runDocument({ status: "running" }) });
    const sold = reduceRun(running, {
      type: "event",
      event: { event: "sample", data: runSample(1, { orders: 131, oversold: 31 }) },
    });
    assert.equal(summaryOf(sold), "Running redis-lock: 131 units ordered from a stock of 100, 31 oversold.");
    const end = reduceRun(sold, { type: "event", event: { event: "finished", data: runDocument() } });
    assert.match(summaryOf(end), /^Safe\. Oversold 0\. All 100 units/);
    assert.equal(summaryOf(IDLE_VIEW), "");
  });
});

describe("API errors", () => {
  it("are shown with the field they name", () => {
    const problem = problemOf(400, {
      error: { code: "invalid_request", message: "too big", details: { field: "vus" } },
    });
    assert.equal(problemSentence(problem), "vus: too big");
    assert.equal(messageBesideField({ ...problem, message: "vus: too big" }), "too big");
  });

  it("carry the id of the active run", () => {
    const body = { error: { code: "run_active", message: "A run is active.", details: { runId: "run-9" } } };
    assert.equal(problemOf(409, body).runId, "run-9");
  });

  it("have a message even if the response has none", () => {
    for (const body of [null, "oops", {}, { error: {} }]) assert.match(problemOf(502, body).message, /answered 502/);
  });
});

describe("reason why a sale cannot run", () => {
  const strategy = { id: "none", available: true, unavailableReason: null, needs: [] } as unknown as CatalogueStrategy;
  const faults = [
    { id: "pause-holder", does: "Stops the node.", topology: null, reasonsAgainst: { none: "it holds no lock" } },
  ];
  const catalogue = { strategies: [strategy], engines: [], faults };

  it("is null if everything is available", () => {
    assert.equal(blockedReason(DEFAULT_CONFIG, {}, catalogue), null);
  });

  it("names a missing server and its fix", () => {
    const reason = "ZooKeeper was not found: apt-get install zookeeper";
    const absent = { ...strategy, available: false, unavailableReason: reason };
    assert.equal(blockedReason(DEFAULT_CONFIG, {}, { ...catalogue, strategies: [absent] }), reason);
  });

  it("names an unknown strategy, a missing engine or a setting out of bounds", () => {
    assert.match(blockedReason({ ...DEFAULT_CONFIG, strategy: "x" }, {}, catalogue) ?? "", /no strategy "x"/);
    const k6 = {
      id: "k6",
      available: true,
      version: "k6",
      reason: null,
      maxBuyers: 499,
      limitedBy: "little memory",
    } as const;
    const missing = { ...k6, available: false, reason: "k6 is not installed" };
    assert.equal(blockedReason(DEFAULT_CONFIG, {}, { ...catalogue, engines: [missing] }), "k6 is not installed");
    assert.equal(
      blockedReason(DEFAULT_CONFIG, {}, { ...catalogue, engines: [k6] }),
      "k6 can start at most 499 buyers together on this machine, because of little memory.",
    );
    const atRate = { ...DEFAULT_CONFIG, arrival: "rate" } as const;
    assert.equal(blockedReason(atRate, {}, { ...catalogue, engines: [k6] }), null);
    assert.match(blockedReason(DEFAULT_CONFIG, { stock: "a whole number" }, catalogue) ?? "", /^Stock must be/);
    const withFault = { ...DEFAULT_CONFIG, faults: [{ id: "pause-holder" as const }] };
    assert.match(
      blockedReason(withFault, {}, catalogue) ?? "",
      /^pause-holder is not applicable to none\. Choose another/,
    );
  });
});

describe("run model", () => {
  it("has the same rows and checks before and after the lab opens the run", () => {
    const opening = openingModel(DEFAULT_CONFIG);
    const running = modelOf(runDocument({ status: "running", nodes: [] }), []);
    assert.equal(opening.nodeRows.length, running.nodeRows.length);
    assert.equal(opening.checks.length, running.checks.length);
    assert.deepEqual(opening.evidence, running.evidence);
    assert.equal(opening.figures.tone, "opening");
  });

  it("has further sentences only when the run has finished", () => {
    assert.equal(modelOf(runDocument(), []).rest.length, 1);
    assert.equal(modelOf(runDocument({ status: "running" }), []).rest.length, 0);
  });
});

describe("stream, theme and traits", () => {
  it("reconnects a lost stream with exponential backoff of at most four seconds", () => {
    assert.deepEqual([0, 1, 2, 3, 4, 100].map(retryDelayMs), [500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  it("cycles through the themes and stores no cookie for the system theme", () => {
    assert.deepEqual((["system", "light", "dark"] as const).map(nextTheme), ["light", "dark", "system"]);
    assert.equal(themeFrom("purple"), "system");
    assert.match(themeCookie("system"), /max-age=0/);
    assert.match(themeCookie("dark"), /^theme=dark;/);
  });

  it("names the servers that a strategy needs besides PostgreSQL", () => {
    assert.equal(needsText([]), "PostgreSQL only");
    assert.equal(needsText(["five Redis servers"]), "five Redis servers");
  });
});
