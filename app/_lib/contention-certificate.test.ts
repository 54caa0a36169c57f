import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agreementOf } from "@/lib/runs/agreement";
import type { ClientReport } from "@/lib/runs/document";
import { clientReport, runDocument } from "../../lib/runs/testing/run-fixture";
import { certificateOf } from "./contention-certificate";

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
