import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agreementOf } from "@/lib/runs/agreement";
import type { ClientReport } from "@/lib/runs/client-report";
import { clientReport, runDocument } from "../../lib/runs/testing/run-fixture";
import { agreementText } from "./agreement-text";

const some = runDocument();

describe("agreementText", () => {
  const client = clientReport({ generatorLagP99Ms: 163, generatorCpuPercent: 143 });
  const wordsFor = (report: ClientReport) => agreementText({ client: report, agreement: agreementOf(some, report) });

  it("says that both sides agree, and gives the load generator's lag and CPU", () => {
    assert.deepEqual(wordsFor(client), {
      sentences: [
        "The load generator sent 500 purchases and the nodes counted the same number.",
        "It fell behind its schedule by up to 163\u00a0ms (p99).",
        "It used 143 % of a core.",
        "Its lag and the network explain the difference between the two latencies.",
      ],
      flags: [],
    });
  });

  it("gives no explanation if there are flags, and names unknown values", () => {
    const words = wordsFor({
      ...client,
      iterations: 499,
      generatorLagP99Ms: undefined,
      generatorCpuPercent: undefined,
    });
    assert.deepEqual(words?.sentences, [
      "The load generator sent 499 and the nodes counted 500.",
      "It did not report its lag.",
      "Its CPU use is unknown.",
    ]);
    assert.equal(words?.flags.length, 1);
    assert.equal(agreementText({ client: null, agreement: undefined }), null);
  });

  it("names the observed process and the idle CPU, or why its CPU use is unknown", () => {
    const watched = wordsFor({ ...client, generatorSparePercent: 4, generatorProcess: "k6" });
    assert.equal(
      watched?.sentences[2],
      "Its process k6 used 143 % of a core in its busiest second, while 4 % of a core was idle.",
    );
    const lost = wordsFor({ ...client, generatorCpuPercent: undefined, generatorCpuUnknown: "it has gone" });
    assert.equal(lost?.sentences[2], "Its CPU use is unknown: it has gone.");
  });

  it("gives the number of purchases that visitors sent during the run", () => {
    const joined = agreementText({ client, agreement: agreementOf(some, client), visitors: 2 });
    assert.match(joined?.sentences[1] ?? "", /^Visitors of the shop sent 2 purchases during the run/);
  });
});
