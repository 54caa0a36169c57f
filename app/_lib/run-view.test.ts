import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { runDocument, runSample } from "../../lib/runs/testing/run-fixture";
import {
  figuresOf,
  IDLE_VIEW,
  isBusy,
  nodeRowsOf,
  type RunAction,
  type RunView,
  reduceRun,
  withSample,
} from "./run-view";

const running = runDocument({ status: "running" });
const after = (...actions: RunAction[]): RunView => actions.reduce(reduceRun, IDLE_VIEW);
const sampleAction = (seq: number): RunAction => ({ type: "event", event: { event: "sample", data: runSample(seq) } });

const overActions: RunAction[] = [
  { type: "attach", document: running },
  { type: "event", event: { event: "finished", data: runDocument() } },
];

describe("followed run", () => {
  it("goes from opening through running to finished", () => {
    assert.equal(after({ type: "open" }).phase, "opening");
    assert.equal(after({ type: "open" }, { type: "attach", document: running }).phase, "running");
    const end = after(
      { type: "attach", document: running },
      { type: "event", event: { event: "finished", data: runDocument() } },
    );
    assert.equal(end.phase, "finished");
    assert.equal(end.document?.status, "finished");
    assert.equal(end.stream, "closed");
  });

  it("waits for the samples of a run that had ended before the page followed it", () => {
    const joined = after(
      { type: "attach", document: runDocument() },
      { type: "event", event: { event: "run", data: runDocument() } },
    );
    assert.equal(joined.phase, "running");
  });

  it("keeps samples ordered and unique when the stream reconnects", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 60 }), (sequence) => {
        const view = after({ type: "attach", document: running }, ...sequence.map(sampleAction));
        const expected = [...new Set(sequence)].sort((a, b) => a - b);
        assert.deepEqual(
          view.samples.map((sample) => sample.seq),
          expected,
        );
      }),
    );
  });

  it("returns the same array for a duplicate sample", () => {
    const samples = [runSample(1), runSample(2)];
    assert.equal(withSample(samples, runSample(1)), samples);
  });

  it("ignores a late event of another run", () => {
    const other = runDocument({ id: "run-2" });
    const view = after(
      { type: "attach", document: running },
      { type: "event", event: { event: "finished", data: other } },
    );
    assert.equal(view.document?.id, "run-1");
    assert.equal(view.phase, "running");
  });

  it("cannot be reset while it runs", () => {
    assert.equal(after({ type: "attach", document: running }, { type: "reset" }).phase, "running");
    assert.equal(after(...overActions, { type: "reset" }).phase, "idle");
    assert.equal(after({ type: "open" }, { type: "reset" }).phase, "idle");
  });

  it("is shown while another page opens it, until it runs or could not be opened", () => {
    const preparing = (document: typeof running | null) => ({ type: "preparing", document }) as const;
    const opening = after(preparing(running));
    assert.deepEqual([opening.phase, opening.document?.id, isBusy(opening)], ["opening", "run-1", true]);
    assert.equal(after(preparing(running), { type: "attach", document: running }).phase, "running");
    assert.equal(after(preparing(running), preparing(null)).phase, "idle");
    assert.equal(after(preparing(running), { type: "reset" }).phase, "opening", "expected a click not to enable Run");
    assert.equal(after({ type: "open" }, preparing(running)).document, null);
    assert.equal(after({ type: "attach", document: running }, preparing(running)).phase, "running");
    assert.equal(after(...overActions, preparing(null)).phase, "finished");
  });

  it("records a lost stream only while it runs", () => {
    assert.equal(after({ type: "attach", document: running }, { type: "stream", stream: "lost" }).stream, "lost");
    assert.equal(after(...overActions, { type: "stream", stream: "lost" }).stream, "closed");
  });
});

describe("isBusy", () => {
  it("is true while a run is active, opened by this page or elsewhere", () => {
    assert.equal(isBusy(after({ type: "open" })), true);
    assert.equal(isBusy(after({ type: "attach", document: running })), true);
    assert.equal(
      isBusy(after({ type: "attach", document: runDocument() })),
      false,
      "expected an ended run to block no other",
    );
    assert.equal(isBusy(after(...overActions)), false);
  });
});

describe("figures", () => {
  it("come from the last sample while the sale runs", () => {
    const samples = [
      runSample(1, { inFlight: 90, orders: 40, stockLeft: 70 }),
      runSample(2, { inFlight: 20, orders: 131, stockLeft: 26, oversold: 31 }),
    ];
    const figures = figuresOf(running, samples);
    assert.equal(figures.tone, "running");
    assert.equal(figures.orders, 131);
    assert.equal(figures.oversold, 31);
    assert.equal(figures.lostUpdates, 57);
    assert.equal(figures.peakInFlight, 90);
    assert.equal(figures.certified, false);
  });

  it("come from the document afterwards", () => {
    const figures = figuresOf(runDocument(), [runSample(1, { oversold: 9 })]);
    assert.equal(figures.tone, "safe");
    assert.equal(figures.oversold, 0);
    assert.equal(figures.soldPerSecond, 50);
    assert.equal(figures.certified, true);
  });
});

describe("node rows", () => {
  it("are as many before the run as after it", () => {
    assert.equal(nodeRowsOf(runDocument({ status: "running", nodes: [] }), []).length, 3);
    assert.equal(nodeRowsOf(runDocument(), []).length, 3);
  });

  it("show current values while running and peaks afterwards", () => {
    const live = { node: "node-1", sold: 5, requests: 9, inFlight: 7, waiters: 6, p50Ms: 1, p99Ms: 2 };
    assert.equal(nodeRowsOf(running, [runSample(1, { nodes: [live] })])[0]?.inFlight, 7);
    assert.equal(nodeRowsOf(runDocument(), [])[0]?.inFlight, 40);
  });
});
