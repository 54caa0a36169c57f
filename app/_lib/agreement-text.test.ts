import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agreementOf } from "@/lib/runs/agreement";
import type { ClientReport } from "@/lib/runs/document";
import { clientReport, runDocument } from "../../lib/runs/testing/run-fixture";
import { agreementText } from "./agreement-text";

const some = runDocument();

describe("agreementText", () => {
  const client = clientReport({ generatorLagP99Ms: 163, generatorCpuPercent: 143 });
  const wordsFor = (report: ClientReport) => agreementText({ client: report, agreement: agreementOf(some, report) });

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
    assert.equal(agreementText({ client: null, agreement: undefined }), null);
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
    const joined = agreementText({ client, agreement: agreementOf(some, client), visitors: 2 });
    assert.match(joined?.sentences[1] ?? "", /^People on the shop's pages sent 2 purchases beside it/);
  });
});
