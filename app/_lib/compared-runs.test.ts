import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createHistogram, encodeHistogram, recordMs } from "../../lib/node/latency-histogram";
import type { RunDocument } from "../../lib/runs/document";
import { runDocument } from "../../lib/runs/testing/run-fixture";
import { comparedRuns } from "./compared-runs";

const { latencyMs } = runDocument();

function measured(strategy: string, p50: number, latencySource: RunDocument["latencySource"]): RunDocument {
  return runDocument({ strategy, latencySource, latencyMs: { ...latencyMs, p50 } });
}

function withHistogram(run: RunDocument, ms: number): RunDocument {
  const histogram = createHistogram();
  recordMs(histogram, ms);
  const encoded = encodeHistogram(histogram);
  return { ...run, histograms: { latency: encoded, poolWait: encoded, wait: encoded, hold: encoded, commit: encoded } };
}

const medians = (runs: readonly RunDocument[]) => comparedRuns(runs).groups.map(({ curve }) => curve[0]?.ms ?? null);

describe("the curves of a comparison", () => {
  it("never mix the latency of the buyers with that of the nodes", () => {
    const runs = [measured("a", 10, "client"), measured("b", 2, "server"), measured("a", 3, "server")];
    assert.equal(comparedRuns(runs).curveSource, "buyers");
    assert.deepEqual(medians(runs), [10, null]);
  });

  it("show what the nodes measured if every run has their histogram", () => {
    const runs = [withHistogram(measured("a", 90, "client"), 5), withHistogram(measured("b", 5, "server"), 4)];
    assert.equal(comparedRuns(runs).curveSource, "nodes");
    assert.deepEqual(
      medians(runs).map((ms) => Math.round(ms ?? 0)),
      [5, 4],
    );
    assert.equal(comparedRuns([...runs, measured("c", 1, "server")]).curveSource, "buyers");
  });
});
