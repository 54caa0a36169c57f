import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agreementOf } from "@/lib/runs/agreement";
import type { ClientReport } from "@/lib/runs/client-report";
import { clientReport, runDocument } from "../../lib/runs/testing/run-fixture";
import { certificateOf } from "./contention-certificate";

const some = runDocument();
const factsOf = (document: typeof some) => Object.fromEntries(certificateOf(document).facts);

describe("certificateOf", () => {
  it("gives the share of concurrent purchases and names the longer queue", () => {
    const poolWait = { ...some.phasesMs.poolWait, p50: 300, p99: 900 };
    const busy = { ...some, phasesMs: { ...some.phasesMs, poolWait } };
    const { isCertified, sentences } = certificateOf(busy);
    assert.equal(isCertified, true);
    assert.match(sentences[0] ?? "", /^Up to 96 of 500 purchases \(19 %\) were in flight at once, 95 of them waiting/);
    assert.match(
      sentences.join(" "),
      /waited longer for a database connection than for the lock: median 300\u00a0ms, compared with 40\u00a0ms/,
    );
    assert.equal(factsOf(busy)["Wait for a pooled connection, p99"], "900\u00a0ms");
    assert.equal(certificateOf(some).sentences.length, 1);
  });

  it("says that a run without contention does not test the strategy", () => {
    const contention = { ...some.contention, certified: false, peakInFlight: 1, arrivalSkewMs: null };
    const { isCertified, sentences } = certificateOf({ ...some, contention });
    assert.equal(isCertified, false);
    assert.match(sentences.join(" "), /At most 1 purchase of 500 in flight at once\. Without contention/);
    assert.equal(factsOf({ ...some, contention })["All buyers started within"], "–");
    const many = certificateOf({ ...some, contention: { ...contention, peakInFlight: 90 } });
    assert.match(many.sentences.join(" "), /^Up to 90 of 500 purchases were in flight at once, but/);
  });

  it("gives the load generator's lag and CPU, or says that they are unknown", () => {
    const client = { generatorLagP99Ms: 163, generatorCpuPercent: 143 } as ClientReport;
    const facts = factsOf({ ...some, client });
    assert.equal(facts["Load generator lag, p99"], "163\u00a0ms");
    assert.equal(facts["Load generator CPU"], "143 % of a core");
    assert.equal(factsOf({ ...some, client: {} as ClientReport })["Load generator CPU"], "unknown");
    assert.equal("Load generator lag, p99" in factsOf({ ...some, client: null }), false);
  });

  it("says that a starved load generator sent a different load", () => {
    const late = clientReport({ generatorLagP99Ms: 9_000 });
    const starved = { ...some, client: late, agreement: agreementOf(some, late) };
    assert.match(certificateOf(starved).sentences.join(" "), /too little CPU, so the nodes received a different load/);
  });

  it("says that dropped purchases lowered the load", () => {
    const contention = { ...some.contention, droppedIterations: 7 };
    assert.match(certificateOf({ ...some, contention }).sentences.join(" "), /did not send 7 purchases/);
  });
});
