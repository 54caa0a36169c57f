import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VIOLATION_KINDS } from "../history/finding";
import { contentionDoubts } from "../history/verdict";
import { emptyPercentiles } from "../node/figures";
import { type ClientReport, clientReportSchema } from "./client-report";
import type { ClosedRun } from "./close-run";
import { type RunDocument, runDocumentSchema } from "./document";
import { newDocument } from "./new-document";
import { runRequestSchema } from "./run-request";
import { withVerdict } from "./run-verdict";

const client: ClientReport = clientReportSchema.parse({
  engine: "k6 2.2.0",
  iterations: 500,
  droppedIterations: 0,
  arrivalSkewMs: 3,
  latencyMs: { ...emptyPercentiles, p50: 12 },
});

/** A run without violations and doubts, with changes. */
function cleanRun(change: Partial<RunDocument> = {}): RunDocument {
  const request = runRequestSchema.parse({ strategy: "sql-guarded" });
  const target = { kind: "product" as const, id: 1 };
  const document = newDocument({ id: "r", request, target, nodes: 3, expected: "safe", versions: {} });
  return {
    ...document,
    counts: { ...document.counts, requests: 500, sold: 100, soldOut: 400 },
    stock: { initial: 100, final: 0, orders: 100 },
    contention: { ...document.contention, certified: true, peakInFlight: 80 },
    ...change,
  };
}

const withViolations = (change: Partial<RunDocument["violations"]>) => ({
  violations: { ...cleanRun().violations, ...change },
});

const noCaveats: ClosedRun["caveats"] = {
  dropped: 0,
  silentNodes: [],
  killedNodes: [],
  stillRunning: 0,
  counterUnread: null,
};

interface Input {
  readonly run?: Partial<RunDocument>;
  readonly report?: ClientReport | null;
  readonly caveats?: Partial<ClosedRun["caveats"]>;
  readonly closed?: Partial<ClosedRun>;
}

function verdictOn({ run = {}, report = client, caveats = {}, closed = {} }: Input = {}): RunDocument {
  const blank = { document: cleanRun(run), caveats: { ...noCaveats, ...caveats }, doubts: [], unservedWaiters: 0 };
  return withVerdict({ ...blank, ...closed }, report);
}

describe("the verdict on a run", () => {
  it("is safe for a clean run, with the evidence", () => {
    const { verdict, sentences } = verdictOn();
    assert.equal(verdict, "safe");
    assert.deepEqual(sentences, [
      "All 100 units were sold once, and the stock agrees: 100 - 0 = 100 units ordered.",
      "Up to 80 purchases were in flight at the same time, and 400 buyers were refused.",
    ]);
  });

  it("is inconclusive if a fault was not seen to take effect", () => {
    const missedFaults = [{ faultId: "pause-holder", reason: "node-1 has no record of it" }];
    const { verdict, sentences } = verdictOn({ run: { missedFaults } });
    assert.equal(verdict, "inconclusive");
    assert.deepEqual(sentences, ["The fault pause-holder was not seen to take effect: node-1 has no record of it."]);
  });

  it("excuses requests without an answer only if a fault killed a node, and says how the lock went on", () => {
    const report = { ...client, failedRequests: 3 };
    const kill = { faultId: "kill-holder", fromNs: "0", toNs: "9", proof: "killed", killedNode: "node-1" };
    const unexplained = verdictOn({ report });
    assert.deepEqual([unexplained.verdict, unexplained.sentences], ["inconclusive", ["3 requests got no answer."]]);
    const recovered = [{ nextGrantMs: 1_040, unserved: 0, watchedMs: 2_000 }];
    const counts = { ...cleanRun().counts, requests: 500, sold: 100, soldOut: 398, unknown: 2 };
    const { verdict, sentences } = verdictOn({ report, run: { faults: [kill], recovery: recovered, counts } });
    assert.equal(verdict, "safe");
    assert.doesNotMatch(sentences.join(" "), /the answers said so/, "expected no answer from a killed node");
    assert.deepEqual(sentences.slice(-2), [
      "After kill-holder began, the next purchase got the lock in 1.04 s.",
      "3 requests got no answer, because node-1 was killed.",
    ]);
    const blocked = [{ nextGrantMs: null, unserved: 40, watchedMs: 9_800 }];
    assert.match(
      verdictOn({ run: { faults: [kill], recovery: blocked } }).sentences.join(" "),
      /After kill-holder began, no purchase got the lock for 9\.80 s: 40 purchases waited and were not served\./,
    );
  });

  it("is inconclusive for a stopped run without violations, and says how much of the load was sent", () => {
    const counts = { ...cleanRun().counts, requests: 120 };
    const { verdict, sentences } = verdictOn({ run: { status: "stopped", counts }, report: null });
    assert.equal(verdict, "inconclusive");
    assert.deepEqual(sentences, [
      "The run was stopped after 120 of 500 purchases, so the rest of the sale is not tested.",
    ]);
  });

  it("is unsafe for a stopped run with a violation", () => {
    const { verdict, sentences } = verdictOn({
      run: { status: "stopped", ...withViolations({ oversold: 3 }) },
      report: null,
    });
    assert.equal(verdict, "unsafe");
    assert.match(sentences.at(-1) ?? "", /^The run was stopped after/);
  });

  it("does not count a visitor's purchase as one of the load generator's", () => {
    const { counts } = cleanRun();
    const joined = verdictOn({ run: { counts: { ...counts, requests: 501 }, visitors: 1 } });
    assert.deepEqual([joined.verdict, joined.agreement?.counted, joined.agreement?.flags], ["safe", 500, []]);
    const lost = verdictOn({ run: { visitors: 1 } });
    assert.equal(lost.verdict, "inconclusive");
    assert.match(lost.sentences.join(" "), /sent 500 purchases, but the nodes counted 499/);
  });

  for (const kind of VIOLATION_KINDS) {
    it(`is unsafe for a run with ${kind}, even if dropped iterations add a doubt`, () => {
      const report = { ...client, droppedIterations: 2 };
      const { verdict, sentences } = verdictOn({ run: withViolations({ [kind]: 1 }), report });
      assert.equal(verdict, "unsafe");
      assert.equal(sentences.length, 2, `expected the violation and the doubt, found: ${sentences.join(" ")}`);
    });
  }

  it("says how many units cannot be delivered, and how updates were lost", () => {
    const stock = { initial: 100, final: 2, orders: 500 };
    const { sentences } = verdictOn({ run: { ...withViolations({ oversold: 400, lostUpdates: 402 }), stock } });
    assert.deepEqual(sentences, [
      "500 units ordered from a stock of 100: 400 cannot be delivered.",
      "402 stock updates were lost: each time, two buyers on the same node read the same stock and one overwrote the other's update.",
    ]);
  });

  it("names the value of a counter that fell below zero", () => {
    const stock = { initial: 100, final: 0, orders: 100, counter: -3 };
    const { sentences } = verdictOn({ run: { ...withViolations({ negativeStock: 3 }), stock } });
    assert.deepEqual(sentences, ["The stock fell below zero, to -3."]);
  });

  it("names both values if the counter and the row differ", () => {
    const stock = { initial: 100, final: 4, orders: 96, counter: 2 };
    const { verdict, sentences } = verdictOn({ run: { ...withViolations({ counterDrift: 2 }), stock } });
    assert.equal(verdict, "unsafe");
    assert.deepEqual(sentences, ["The strategy's counter ended at 2 and the row at 4: they differ by 2 units."]);
  });

  const inconclusive: [string, Input][] = [
    [
      "without a purchase that met another",
      { closed: { doubts: contentionDoubts({ operations: 500, peakInFlight: 90, contendedSections: 0 }) } },
    ],
    [
      "without a single purchase",
      { closed: { doubts: contentionDoubts({ operations: 0, peakInFlight: 0, contendedSections: 0 }) } },
    ],
    ["without a report of the load generator", { report: null }],
    [
      "with a load generator that fell behind",
      { report: { ...client, generatorLagP99Ms: 4_000, generatorCpuPercent: 197 } },
    ],
    ["with dropped iterations", { report: { ...client, droppedIterations: 1 } }],
    ["with requests that got no answer", { report: { ...client, failedRequests: 1 } }],
    ["with fewer purchases at the nodes than were sent", { report: { ...client, iterations: 501 } }],
    ["with operations that the recorder dropped", { caveats: { dropped: 1 } }],
    ["with waiters that were not served after a fault", { closed: { unservedWaiters: 2 } }],
    ["with a node that was killed", { caveats: { killedNodes: ["node-2"] } }],
    ["with a silent node", { caveats: { silentNodes: ["node-2"] } }],
    ["with purchases that are still in flight", { caveats: { stillRunning: 1 } }],
    ["with a stock counter that could not be read", { caveats: { counterUnread: "node-1: no Redis" } }],
    ["with a stock counter that vanished", { run: { stock: { initial: 100, final: 0, orders: 100, counter: null } } }],
    ["that sold nothing", { run: { counts: { ...cleanRun().counts, sold: 0 } } }],
  ];
  for (const [what, input] of inconclusive) {
    it(`is inconclusive for a run ${what}`, () => {
      const { verdict, sentences } = verdictOn(input);
      assert.equal(verdict, "inconclusive");
      assert.equal(sentences.length, 1, `expected one doubt, found: ${sentences.join(" ")}`);
    });
  }

  it("says what a safe run cost: failed purchases and unsold units", () => {
    const counts = { ...cleanRun().counts, sold: 22, soldOut: 0, contended: 473, errors: 4, unknown: 1 };
    const { verdict, sentences } = verdictOn({ run: { counts, stock: { initial: 100, final: 78, orders: 22 } } });
    assert.equal(verdict, "safe");
    assert.match(sentences.join(" "), /5 purchases failed/);
    assert.match(sentences.join(" "), /78 units stayed unsold, although 473 buyers waited for the lock/);
  });

  it("can be drawn again when the client reports, from the same closed run", () => {
    const closed: ClosedRun = { document: cleanRun(), caveats: noCaveats, doubts: [], unservedWaiters: 0 };
    assert.equal(withVerdict(closed, null).verdict, "inconclusive");
    assert.equal(withVerdict(closed, client).verdict, "safe");
  });
});

describe("the client's report in a run document", () => {
  it("replaces the latency, and the document says whose latency it is", () => {
    const reported = verdictOn();
    assert.equal(reported.latencySource, "client");
    assert.equal(reported.latencyMs.p50, 12);
    assert.equal(reported.contention.droppedIterations, 0);
    const unreported = verdictOn({ report: null });
    assert.equal(unreported.latencySource, "server");
    assert.equal(unreported.contention.droppedIterations, null);
  });

  it("leaves the nodes' latency in the document, and says how far the generator fell behind", () => {
    const document = verdictOn({
      run: { latencyMs: { ...emptyPercentiles, p50: 9 } },
      report: { ...client, generatorLagP99Ms: 4_000, generatorCpuPercent: 197 },
    });
    assert.equal(document.latencyMs.p50, 12);
    assert.equal(document.agreement?.serverLatencyMs.p50, 9);
    assert.match(
      document.sentences.join(" "),
      /fell behind: .* 4\.00 s late \(p99, limit 2 s\) and used 197 % of a core/,
    );
    assert.equal(verdictOn({ report: null }).agreement, undefined);
  });

  it("gives a document that its own schema accepts", () => {
    const document = verdictOn();
    assert.deepEqual(runDocumentSchema.parse(document), document);
  });
});
