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

describe("the stock bar", () => {
  it("stops at the end of the stock when nothing was oversold", () => {
    const { sold, beyond, end } = stockBarShares(100, 100);
    assert.equal(sold, end);
    assert.equal(beyond, 0);
    assert.ok(end < 100, "there must be room to be seen running past it");
  });

  it("runs past it by what was oversold, and never out of the page", () => {
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
  it("come at once the first time and then five seconds apart", () => {
    assert.equal(announceDelayMs(null, 1_000), 0);
    assert.equal(announceDelayMs(1_000, 2_000), ANNOUNCE_EVERY_MS - 1_000);
    assert.equal(announceDelayMs(1_000, 60_000), 0);
  });

  it("say how the sale stands, and the verdict at its end", () => {
    const running = reduceRun(IDLE_VIEW, { type: "attach", document: runDocument({ status: "running" }), isOwn: true });
    const sold = reduceRun(running, {
      type: "event",
      event: { event: "sample", data: runSample(1, { orders: 131, oversold: 31 }) },
    });
    assert.equal(summaryOf(sold), "Running redis-lock: 131 orders for 100 units, 31 oversold.");
    const end = reduceRun(sold, { type: "event", event: { event: "finished", data: runDocument() } });
    assert.match(summaryOf(end), /^Safe\. Oversold 0\. All 100 units/);
    assert.equal(summaryOf(IDLE_VIEW), "");
  });
});

describe("errors of the API", () => {
  it("are shown with the field they speak of", () => {
    const problem = problemOf(400, {
      error: { code: "invalid_request", message: "too big", details: { field: "vus" } },
    });
    assert.equal(problemSentence(problem), "vus: too big");
    assert.equal(messageBesideField({ ...problem, message: "vus: too big" }), "too big");
  });

  it("carry the run that is in the way", () => {
    const body = { error: { code: "run_active", message: "A run is going on.", details: { runId: "run-9" } } };
    assert.equal(problemOf(409, body).runId, "run-9");
  });

  it("have words even when the answer has none", () => {
    for (const body of [null, "oops", {}, { error: {} }]) assert.match(problemOf(502, body).message, /answered 502/);
  });
});

describe("what stands in the way of a sale", () => {
  const strategy = { id: "none", available: true, unavailableReason: null, needs: [] } as unknown as CatalogueStrategy;
  const faults = [{ id: "pause-holder", does: "Stops the node.", reasonsAgainst: { none: "nobody holds" } }];
  const catalogue = { strategies: [strategy], engines: [], faults };

  it("is nothing when all is there", () => {
    assert.equal(blockedReason(DEFAULT_CONFIG, {}, catalogue), null);
  });

  it("is a missing server, with its fix", () => {
    const reason = "ZooKeeper was not found: apt-get install zookeeper";
    const absent = { ...strategy, available: false, unavailableReason: reason };
    assert.equal(blockedReason(DEFAULT_CONFIG, {}, { ...catalogue, strategies: [absent] }), reason);
  });

  it("is an unknown strategy, a missing engine, or a setting out of bounds", () => {
    assert.match(blockedReason({ ...DEFAULT_CONFIG, strategy: "x" }, {}, catalogue) ?? "", /no strategy "x"/);
    const engines = [{ id: "k6", available: false, version: null, reason: "k6 is not installed" }] as const;
    assert.equal(blockedReason(DEFAULT_CONFIG, {}, { ...catalogue, engines }), "k6 is not installed");
    assert.match(blockedReason(DEFAULT_CONFIG, { stock: "a whole number" }, catalogue) ?? "", /^Stock must be/);
    const hurt = { ...DEFAULT_CONFIG, faults: [{ id: "pause-holder" as const }] };
    assert.match(blockedReason(hurt, {}, catalogue) ?? "", /^pause-holder cannot be done to none; choose another/);
  });
});

describe("the model of a run", () => {
  it("has the same rows and checks before the lab has answered as after", () => {
    const opening = openingModel(DEFAULT_CONFIG);
    const running = modelOf(runDocument({ status: "running", nodes: [] }), []);
    assert.equal(opening.nodeRows.length, running.nodeRows.length);
    assert.equal(opening.checks.length, running.checks.length);
    assert.deepEqual(opening.evidence, running.evidence);
    assert.equal(opening.figures.tone, "opening");
  });

  it("has sentences to spare only at the end", () => {
    assert.equal(modelOf(runDocument(), []).rest.length, 1);
    assert.equal(modelOf(runDocument({ status: "running" }), []).rest.length, 0);
  });
});

describe("small things", () => {
  it("tries a lost stream again after longer and longer waits, at most four seconds", () => {
    assert.deepEqual([0, 1, 2, 3, 4, 100].map(retryDelayMs), [500, 1_000, 2_000, 4_000, 4_000, 4_000]);
  });

  it("goes round the themes and forgets the system's", () => {
    assert.deepEqual((["system", "light", "dark"] as const).map(nextTheme), ["light", "dark", "system"]);
    assert.equal(themeFrom("purple"), "system");
    assert.match(themeCookie("system"), /max-age=0/);
    assert.match(themeCookie("dark"), /^theme=dark;/);
  });

  it("says what a strategy needs besides PostgreSQL", () => {
    assert.equal(needsText([]), "PostgreSQL only");
    assert.equal(needsText(["five Redis servers"]), "five Redis servers");
  });
});
