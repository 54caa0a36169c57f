import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agreementOf } from "@/lib/runs/agreement";
import type { ClientReport } from "@/lib/runs/document";
import { clientReport, runDocument } from "../../lib/runs/testing/run-fixture";
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

  it("says what the load generator took for it, and what of that is not known", () => {
    const client = { generatorLagP99Ms: 163, generatorCpuPercent: 143 } as ClientReport;
    const facts = factsOf({ ...some, client });
    assert.equal(facts["Load generator late, p99"], "163 ms");
    assert.equal(facts["Load generator's processor"], "143 % of a core");
    assert.equal(factsOf({ ...some, client: {} as ClientReport })["Load generator's processor"], "not known");
    assert.equal("Load generator late, p99" in factsOf({ ...some, client: null }), false);
  });

  it("says that the rush of a starved generator was another one", () => {
    const late = clientReport({ generatorLagP99Ms: 9_000 });
    const starved = { ...some, client: late, agreement: agreementOf(some, late) };
    assert.match(certificateOf(starved).sentences.join(" "), /starved: what arrived is not the rush/);
  });

  it("says that a rush with dropped purchases was smaller than asked", () => {
    const contention = { ...some.contention, droppedIterations: 7 };
    assert.match(certificateOf({ ...some, contention }).sentences.join(" "), /7 purchases never left/);
  });
});

describe("agreementWords", () => {
  const client = clientReport({ generatorLagP99Ms: 163, generatorCpuPercent: 143 });
  const wordsFor = (report: ClientReport) => agreementWords({ client: report, agreement: agreementOf(some, report) });

  it("says that both tell of the same sale, and what the generator took for it", () => {
    assert.deepEqual(wordsFor(client), {
      sentences: [
        "The load generator sent 500 purchases and the nodes counted as many.",
        "It was up to 163 ms late itself (p99).",
        "It used 143 % of a core.",
        "What lies between their latencies is explained by its lateness and by the network.",
      ],
      flags: [],
    });
  });

  it("explains nothing away where there are flags, and says what is not known", () => {
    const words = wordsFor({
      ...client,
      iterations: 499,
      generatorLagP99Ms: undefined,
      generatorCpuPercent: undefined,
    });
    assert.deepEqual(words?.sentences, [
      "The load generator sent 499 and the nodes counted 500.",
      "It did not say how late it was.",
      "What it took of the processor is not known.",
    ]);
    assert.equal(words?.flags.length, 1);
    assert.equal(agreementWords({ client: null, agreement: undefined }), null);
  });

  it("says which process was watched and what was left to it, or why none was", () => {
    const watched = wordsFor({ ...client, generatorSparePercent: 4, generatorProcess: "k6" });
    assert.equal(
      watched?.sentences[2],
      "Its process k6 used 143 % of a core in its busiest second, with 4 % of one left over.",
    );
    const lost = wordsFor({ ...client, generatorCpuPercent: undefined, generatorCpuUnknown: "it has gone" });
    assert.equal(lost?.sentences[2], "What it took of the processor is not known: it has gone.");
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
