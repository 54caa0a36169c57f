import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { VIOLATION_KINDS } from "../history/finding";
import { emptyPercentiles } from "../node/figures";
import {
  type ClientReport,
  clientReportSchema,
  type RunDocument,
  runDocumentSchema,
  runRequestSchema,
} from "./document";
import { newDocument } from "./new-document";
import { conclude, noCaveats } from "./run-verdict";

const client: ClientReport = clientReportSchema.parse({
  engine: "k6 2.2.0",
  iterations: 500,
  droppedIterations: 0,
  arrivalSkewMs: 3,
  latencyMs: { ...emptyPercentiles, p50: 12 },
});

/** A run in which everything went well, changed as the test likes. */
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

const violated = (change: Partial<RunDocument["violations"]>) => ({
  violations: { ...cleanRun().violations, ...change },
});
const judge = (document: RunDocument, report: ClientReport | null = client, caveats = noCaveats) =>
  conclude({ document, client: report, caveats });

describe("conclude", () => {
  it("calls a clean run safe and says why one can believe it", () => {
    const { verdict, sentences } = judge(cleanRun());
    assert.equal(verdict, "safe");
    assert.match(sentences.join(" "), /100 - 0 = 100 orders/);
    assert.match(sentences.join(" "), /80 purchases were in flight/);
  });

  it("never calls a run safe whose fault was not seen to take effect", () => {
    const missedFaults = [{ faultId: "pause-holder", reason: "node-1 has forgotten it" }];
    const { verdict, sentences } = judge(cleanRun({ missedFaults }));
    assert.equal(verdict, "inconclusive");
    assert.match(
      sentences.join(" "),
      /pause-holder was asked for and not seen to take effect: node-1 has forgotten it\./,
    );
  });

  it("does not take a visitor's purchase for one of the load generator's", () => {
    const { counts } = cleanRun();
    const joined = judge(cleanRun({ counts: { ...counts, requests: 501 }, visitors: 1 }));
    assert.deepEqual([joined.verdict, joined.agreement?.counted, joined.agreement?.flags], ["safe", 500, []]);
    const lost = judge(cleanRun({ visitors: 1 }));
    assert.equal(lost.verdict, "inconclusive");
    assert.match(lost.sentences.join(" "), /sent 500 purchases, the nodes counted 499/);
  });

  for (const kind of VIOLATION_KINDS) {
    it(`calls a run with ${kind} unsafe, even when dropped iterations cast doubt`, () => {
      const { verdict, sentences } = judge(cleanRun(violated({ [kind]: 1 })), { ...client, droppedIterations: 2 });
      assert.equal(verdict, "unsafe");
      assert.ok(sentences.length >= 2, "the proof and the doubt are both said");
    });
  }

  const doubts: [string, () => RunDocument][] = [
    [
      "in which no two purchases met",
      () => judge(cleanRun({ contention: { ...cleanRun().contention, certified: false, peakInFlight: 1 } })),
    ],
    ["whose load generator never reported", () => judge(cleanRun(), null)],
    [
      "whose load generator was starved",
      () => judge(cleanRun(), { ...client, generatorLagP99Ms: 4_000, generatorCpuPercent: 197 }),
    ],
    ["that dropped iterations", () => judge(cleanRun(), { ...client, droppedIterations: 1 })],
    ["with requests that got no answer", () => judge(cleanRun(), { ...client, failedRequests: 1 })],
    ["of which the nodes saw fewer purchases than were sent", () => judge(cleanRun(), { ...client, iterations: 501 })],
    ["whose recorder dropped operations", () => judge(cleanRun(), client, { ...noCaveats, dropped: 1 })],
    ["that left waiters unserved after a fault", () => judge(cleanRun(), client, { ...noCaveats, unservedWaiters: 2 })],
    ["with a silent node", () => judge(cleanRun(), client, { ...noCaveats, silentNodes: ["node-2"] })],
    ["with purchases still running", () => judge(cleanRun(), client, { ...noCaveats, stillRunning: 1 })],
    [
      "whose strategy keeps a counter that could not be read",
      () => judge(cleanRun(), client, { ...noCaveats, counterUnread: "node-1: no Redis" }),
    ],
    [
      "whose stock vanished from where the strategy counts it",
      () => judge(cleanRun({ stock: { initial: 100, final: 0, orders: 100, counter: null } })),
    ],
    ["without a single request", () => judge(cleanRun({ counts: { ...cleanRun().counts, requests: 0, sold: 0 } }))],
    ["that sold nothing", () => judge(cleanRun({ counts: { ...cleanRun().counts, sold: 0 } }))],
  ];
  for (const [what, run] of doubts) {
    it(`calls a run ${what} inconclusive, never safe`, () => {
      const { verdict, sentences } = run();
      assert.equal(verdict, "inconclusive");
      assert.ok(sentences.length > 0);
    });
  }

  it("says of a safe run what its safety cost: failed purchases, and units that stayed unsold", () => {
    const counts = { ...cleanRun().counts, sold: 22, soldOut: 0, contended: 473, errors: 4, unknown: 1 };
    const { verdict, sentences } = judge(cleanRun({ counts, stock: { initial: 100, final: 78, orders: 22 } }));
    assert.equal(verdict, "safe");
    assert.match(sentences.join(" "), /5 purchases failed/);
    assert.match(sentences.join(" "), /78 units stayed unsold although 473 buyers waited in vain/);
  });

  it("takes the buyers' latency from the load generator, and says whose it is", () => {
    const told = judge(cleanRun());
    assert.equal(told.latencySource, "client");
    assert.equal(told.latencyMs.p50, 12);
    assert.equal(told.contention.droppedIterations, 0);
    const untold = judge(cleanRun(), null);
    assert.equal(untold.latencySource, "server");
    assert.equal(untold.contention.droppedIterations, null);
  });

  it("makes a document that its own schema accepts", () => {
    const document = judge(cleanRun());
    assert.deepEqual(runDocumentSchema.parse(document), document);
  });

  it("keeps the nodes' latencies beside the buyers', and says how starved a generator was", () => {
    const document = judge(cleanRun({ latencyMs: { ...emptyPercentiles, p50: 9 } }), {
      ...client,
      generatorLagP99Ms: 4_000,
      generatorCpuPercent: 197,
    });
    assert.equal(document.latencyMs.p50, 12);
    assert.equal(document.agreement?.serverLatencyMs.p50, 9);
    assert.match(
      document.sentences.join(" "),
      /starved: .* 4\.0 s late \(p99; 2\.0 s are allowed\), using 197% of a core/,
    );
    assert.equal(judge(cleanRun(), null).agreement, undefined);
  });
});
