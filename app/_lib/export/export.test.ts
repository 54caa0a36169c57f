import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Interleaving } from "../../../lib/history/merge-steps";
import { history } from "../../../lib/history/testing/make-history";
import { timelineOf } from "../../../lib/history/timeline";
import type { HistoryOpLine } from "../../../lib/history/types";
import { CURVE_PERCENTILES } from "../../../lib/node/curve-percentiles";
import { createHistogram, encodeHistogram, recordMs } from "../../../lib/node/latency-histogram";
import { clientReport, runDocument, runSample } from "../../../lib/runs/testing/run-fixture";
import { longHistory } from "../../../lib/runs/testing/stored-run";
import type { LatencyCurve } from "../latency-curves";
import { seriesOfSamples } from "../samples-series";
import { distinctFindings } from "./distinct-findings";
import { markup } from "./markup";
import { operationsCsv, percentilesCsv, samplesCsv } from "./run-csv";
import { hgrm } from "./run-hgrm";
import { runHtml } from "./run-html";

/** An independent RFC 4180 reader. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  let field = "";
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (isQuoted && character === '"' && text[at + 1] === '"') {
      field += '"';
      at += 1;
    } else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && character === ",") {
      rows.at(-1)?.push(field);
      field = "";
    } else if (!isQuoted && character === "\r") {
      rows.at(-1)?.push(field);
      field = "";
      rows.push([]);
      at += 1;
    } else field += character;
  }
  return rows.slice(0, -1);
}

const op = (change: Partial<HistoryOpLine> = {}): HistoryOpLine => ({
  type: "op",
  opId: "o1",
  node: "node-1",
  host: "h",
  buyerId: "b1",
  quantity: 1,
  invokedNs: "9007199254740993000",
  outcome: "sold",
  ...change,
});

describe("CSV export", () => {
  it("has a header and one row per sample", () => {
    const [head, first, ...rest] = readCsv(samplesCsv([runSample(1, { stockLeft: 97, orders: 3 })]));
    assert.deepEqual(rest, []);
    const row = Object.fromEntries((head ?? []).map((name, index) => [name, first?.[index]]));
    assert.equal(row.at_ms, "250");
    assert.equal(row.stock_left, "97");
    assert.equal(row.node_p99_ms, "120");
    assert.equal(row.hold_median_ms, "");
  });

  it("has one row per purchase in time order, with times to the nanosecond since the first purchase on its host", () => {
    const lines = operationsCsv([
      op({ opId: "late", invokedNs: "9007199254740993000", answeredNs: "9007199256240993001" }),
      op({ opId: "first", invokedNs: "9007199254739993000" }),
      op({ opId: "elsewhere", host: "other", invokedNs: "5" }),
    ]);
    const [head, ...rows] = readCsv(lines);
    const at = (name: string) => rows.map((row) => row[(head ?? []).indexOf(name)]);
    assert.deepEqual(at("op_id"), ["first", "elsewhere", "late"]);
    assert.deepEqual(at("invoked_ms"), ["0.000000", "0.000000", "1.000000"]);
    assert.deepEqual(at("answered_ms"), ["", "", "1501.000001"]);
  });

  it("has one row per point of both latency curves", () => {
    const lines = percentilesCsv([
      { id: "nodes", label: "", points: [{ share: 1 - 10 ** -0.125, ms: 2.5 }] },
      { id: "buyers", label: "", points: [{ share: 0.5, ms: 3 }] },
    ]);
    assert.deepEqual(readCsv(lines), [
      ["of", "percentile", "ms"],
      ["nodes", "25.010579", "2.5"],
      ["buyers", "50", "3"],
    ]);
  });

  it("round-trips every text", () => {
    fc.assert(
      fc.property(fc.string(), (holderId) => {
        const [head, row] = readCsv(operationsCsv([op({ holderId })]));
        assert.equal(row?.[(head ?? []).indexOf("holder_id")], holderId);
      }),
    );
  });
});

describe(".hgrm export", () => {
  it("writes HdrHistogram's table, in milliseconds", () => {
    const histogram = createHistogram();
    for (let ms = 1; ms <= 100; ms += 1) recordMs(histogram, ms);
    const encoded = encodeHistogram(histogram);
    const histograms = { latency: encoded, poolWait: encoded, wait: encoded, hold: encoded, commit: encoded };
    const text = hgrm(runDocument({ histograms }), "latency") ?? "";
    assert.match(
      text,
      /^#\[Node latency in milliseconds, measured by the store nodes\]\n\s+Value\s+Percentile\s+TotalCount\s+1\/\(1-Percentile\)/,
    );
    const rows = text.split("\n").filter((line) => /^\s+\d/.test(line));
    const values = rows.map((line) => Number(line.trim().split(/\s+/)[0]));
    assert.deepEqual(
      values,
      [...values].sort((a, b) => a - b),
    );
    assert.ok(Math.abs((values.at(-1) ?? 0) - 100) < 1.5, `expected a maximum near 100 ms, found ${values.at(-1)} ms`);
    assert.match(text, /#\[Mean\s+=/);
  });

  it("writes the same table for the buyers' latency, up to its maximum", () => {
    const curve = CURVE_PERCENTILES.map((percentile) => ({ percentile, ms: 40 + percentile }));
    const text = hgrm(runDocument({ client: clientReport({ curve }) }), "buyers") ?? "";
    const rows = text.split("\n").filter((line) => /^\s+\d/.test(line));
    assert.match(text, /^#\[Buyer latency in milliseconds, measured by the load generator\]\n/);
    assert.equal(rows[0], "       40.00 0.000000000000          1           1.00");
    assert.ok(rows.includes("      130.00 0.900000000000        450          10.00"), text);
    assert.equal(rows.at(-1), "      140.00 1.000000000000        500");
    assert.match(text, /#\[Max += {7}140\.00, Total count += {10}500\]\n$/);
  });

  it("returns null if the run has no such distribution", () => {
    assert.equal(hgrm(runDocument(), "wait"), null);
    assert.equal(hgrm(runDocument({ client: clientReport() }), "buyers"), null);
  });
});

const first: Interleaving = {
  actors: ["1", "2"].map((name) => ({
    opId: `o${name}`,
    node: `node-${name}`,
    host: "h",
    buyerId: "b",
    outcome: "sold",
  })),
  steps: [
    { opId: "o1", field: "readNs", afterNs: 0, text: "read stock = 17", isMarked: false, isDetail: false },
    { opId: "o2", field: "readNs", afterNs: 1_100_000, text: "read stock = 17", isMarked: true, isDetail: false },
    { opId: "o2", field: "answeredNs", afterNs: 2_000_000, text: "left out", isMarked: false, isDetail: true },
  ],
  fromNs: "1",
  remarks: [],
  isOneClock: true,
};

describe("HTML export", () => {
  const samples = [runSample(1, { orders: 40, inFlight: 3 }), runSample(2, { orders: 131, oversold: 31 })];
  const series = seriesOfSamples(runDocument(), samples);
  const points = [
    { share: 0.5, ms: 40 },
    { share: 0.99, ms: 120 },
  ];
  const curves: LatencyCurve[] = [
    { id: "nodes", label: "inside the nodes", points },
    { id: "buyers", label: "as the buyers saw it", points },
  ];
  const { timeline } = timelineOf(history({ ops: longHistory(20) }));
  const holders = {
    timeline,
    faults: [{ faultId: "kill-holder", fromUs: 5_100, toUs: 5_100, proof: "process 1 ended" }],
    range: { fromUs: 5_000, toUs: 6_000 },
    selected: [1, 2],
    alarmed: [1, 2],
  };
  const html = (change: Parameters<typeof runDocument>[0] = {}, findings: string[] = []) =>
    runHtml({
      evidence: null,
      document: runDocument(change),
      series,
      curves,
      findings,
      findingCount: findings.length,
      first: findings.length === 0 ? null : first,
      story: null,
      holders,
    });

  it("contains no scripts and no external references if no fault has a story", () => {
    const text = html();
    assert.doesNotMatch(text, /<script|<link|<img|<iframe|\ssrc=|\shref=|url\((?!#)|@import|https?:/i);
    assert.match(text, /Content-Security-Policy" content="default-src 'none'/);
  });

  it("draws six charts, each with a table of its values", () => {
    const figures = html().split("<figure>").slice(1);
    assert.equal(figures.length, 6);
    for (const figure of figures) {
      assert.match(figure, /<svg viewBox="0 0 500 220" role="img" aria-label="[^"]+"/);
      assert.match(figure, /<details><summary>[^<]+: values<\/summary>.*<tbody><tr>/s);
      assert.doesNotMatch(figure, /NaN|undefined|Infinity/);
    }
  });

  it("draws both latency curves with different colour and dash", () => {
    const figure =
      html()
        .split("<figure>")
        .find((text) => text.includes("<h2>Latency by percentile")) ?? "";
    const [drawing = "", valueTable = ""] = figure.split("<details>");
    assert.match(drawing, /<path class="line accent" d="M\d[^"]*L/);
    assert.match(drawing, /<path class="line dashed" d="M\d[^"]*L/);
    assert.equal(valueTable.match(/<tr><th scope="row">as the buyers saw it</g)?.length, points.length);
  });

  it("escapes the verdict and the findings", () => {
    const sentence = `node-1 <read> "17" & wrote it's own`;
    const text = html({ verdict: "unsafe", sentences: ["31 cannot be <delivered>."] }, [sentence]);
    assert.match(text, /<strong>Unsafe\.<\/strong> 31 cannot be &lt;delivered&gt;\./);
    assert.match(
      text,
      /<tr class="marked" data-replay="line"><th scope="row">\+1\.100 ms<\/th><td>node-2 b<\/td><td>read stock = 17/,
    );
    assert.doesNotMatch(text, /left out/);
    assert.match(text, /node-1 &lt;read&gt; &quot;17&quot; &amp; wrote it&#39;s own/);
  });

  it("draws the timeline with selected spans and faults, and a table of its values", () => {
    const [, figure = ""] = html().split('<figure class="wide">');
    const [drawing = "", valueTable = ""] = figure.split("<details>");
    assert.equal(drawing.match(/<rect class="inside" x=/g)?.length, 15);
    assert.equal(drawing.match(/<rect class="selected alarm" x=/g)?.length, 2);
    assert.match(drawing, /<rect class="band"[^>]*width="3.0"/);
    assert.match(drawing, />kill-holder</);
    assert.equal(valueTable.split("</table>")[0]?.match(/<tr><th scope="row">node-/g)?.length, 17);
  });

  it("draws the faults on every chart over time and lists them with time and proof", () => {
    const fault = { faultId: "pause-holder", fromNs: "6000000000", toNs: "6001000000", proof: "stopped for 1 ms" };
    const document = runDocument({ faults: [fault], clock: { host: "h", startedNs: "5900000000" } });
    const text = runHtml({
      evidence: null,
      document,
      series: seriesOfSamples(document, samples),
      curves,
      findings: [],
      findingCount: 0,
      first: null,
      story: null,
      holders: null,
    });
    assert.equal(text.match(/<rect class="band"/g)?.length, 5);
    assert.equal(text.match(/<text class="fault"[^>]*>pause-holder</g)?.length, 5);
    const [, afterLastEdge = ""] = text.split(/<text class="fault"[^>]*>pause-holder<\/text>/);
    assert.match(
      afterLastEdge,
      /^<rect class="plate"[^>]*\/><text[^>]*>stock 100</,
      "expected the label above the edges",
    );
    assert.match(text, /<code>pause-holder<\/code> <span class="muted">100 ms to 101 ms<\/span> stopped for 1 ms/);
  });

  it("is complete for a run without measurements", () => {
    const none = { p50: null, p90: null, p95: null, p99: null, p999: null, max: null };
    const document = runDocument({ latencyMs: none, nodes: [], status: "failed", verdict: "inconclusive" });
    const text = runHtml({
      evidence: null,
      document,
      series: seriesOfSamples(document, []),
      curves: [],
      findings: [],
      findingCount: 0,
      first: null,
      story: null,
      holders: null,
    });
    assert.doesNotMatch(text, /NaN|undefined|Infinity/);
    assert.match(text, /<\/html>/);
  });
});

describe("distinctFindings", () => {
  it("merges equal sentences with their count and counts the omitted ones", () => {
    assert.deepEqual(distinctFindings(["a", "b", "a"]), { findings: ["a (2 times)", "b"], findingCount: 2 });
    const many = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const { findings, findingCount } = distinctFindings([...many, "s11"]);
    assert.deepEqual([findings.length, findingCount - findings.length], [10, 3]);
  });
});

describe("markup", () => {
  it("escapes every text", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.doesNotMatch(markup`${text}`.text, /[<>"']/);
      }),
    );
  });
});
