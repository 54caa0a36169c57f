import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agreementOf } from "@/lib/runs/agreement";
import type { ClientReport } from "@/lib/runs/document";
import { runDocument } from "../../tests/support/run-fixture";
import { agreementWords } from "./agreement-words";
import { certificateOf } from "./contention";
import { afterWords, groupFindings, kindWords, momentWords } from "./finding-words";

const some = runDocument();
const factsOf = (document: typeof some) => Object.fromEntries(certificateOf(document).facts);

describe("certificateOf", () => {
  it("says how much of the rush met, and which queue was the longer", () => {
    const poolWait = { ...some.phasesMs.poolWait, p50: 300, p99: 900 };
    const busy = { ...some, phasesMs: { ...some.phasesMs, poolWait } };
    const { isCertified, sentences } = certificateOf(busy);
    assert.equal(isCertified, true);
    assert.match(sentences[0] ?? "", /^Up to 96 of 500 purchases \(19 %\) were in flight at once, 95 of them waiting/);
    assert.match(sentences.join(" "), /longer queue was for the database's connections: 300 ms in the median, 40 ms/);
    assert.equal(factsOf(busy)["Wait for a connection, p99"], "900 ms");
    assert.equal(certificateOf(some).sentences.length, 1);
  });

  it("calls a run without contention no test", () => {
    const contention = { ...some.contention, certified: false, peakInFlight: 1, arrivalSkewMs: null };
    const { isCertified, sentences } = certificateOf({ ...some, contention });
    assert.equal(isCertified, false);
    assert.match(sentences.join(" "), /At most 1 purchase of 500 in flight at once: this was no contention test/);
    assert.equal(factsOf({ ...some, contention })["Buyers started within"], "–");
  });

  it("says that a rush with dropped purchases was smaller than asked", () => {
    const contention = { ...some.contention, droppedIterations: 7 };
    assert.match(certificateOf({ ...some, contention }).sentences.join(" "), /7 purchases never left/);
  });
});

describe("agreementWords", () => {
  const client: ClientReport = {
    engine: "k6",
    iterations: 500,
    droppedIterations: 0,
    failedRequests: 0,
    arrivalSkewMs: 1,
    latencyMs: some.latencyMs,
    generatorLagP99Ms: 163,
    generatorCpuPercent: 143,
  };
  const wordsFor = (report: ClientReport) => agreementWords({ client: report, agreement: agreementOf(some, report) });

  it("says that both tell of the same sale, and what the generator took for it", () => {
    assert.deepEqual(wordsFor(client), {
      sentences: [
        "The load generator sent 500 purchases and the nodes counted as many.",
        "It was up to 163 ms late itself (p99) and used 143 % of a core.",
        "What lies between their latencies is explained by that and by the network.",
      ],
      flags: [],
    });
  });

  it("explains nothing away where there are flags, and passes over what is not known", () => {
    const words = wordsFor({ ...client, iterations: 499, generatorLagP99Ms: undefined, generatorCpuPercent: 12 });
    assert.deepEqual(words?.sentences, [
      "The load generator sent 499 and the nodes counted 500.",
      "It used 12 % of a core.",
    ]);
    assert.equal(words?.flags.length, 1);
    assert.equal(agreementWords({ client: null, agreement: undefined }), null);
  });

  it("says how many purchases people sent beside the load", () => {
    const joined = agreementWords({ client, agreement: agreementOf(some, client), visitors: 2 });
    assert.match(joined?.sentences[1] ?? "", /^People on the shop's pages sent 2 purchases beside it/);
  });
});

describe("findings in words", () => {
  it("keeps kinds together in the order they come in", () => {
    const findings = [{ kind: "staleWrites" }, { kind: "oversold" }, { kind: "staleWrites" }] as const;
    assert.deepEqual(
      groupFindings(findings).map(({ kind, findings: members }) => [kind, members.length]),
      [
        ["staleWrites", 2],
        ["oversold", 1],
      ],
    );
    assert.equal(kindWords("staleWrites", 1), "Stale write");
  });

  it("writes times so that a column lines up", () => {
    assert.deepEqual([afterWords(0), afterWords(12_345_678)], ["+0.000", "+12.346"]);
    assert.deepEqual([momentWords(411_000), momentWords(null)], ["0.411 s", "–"]);
  });
});
