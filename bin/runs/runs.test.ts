import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Command } from "commander";
import type { RunDocument } from "../../lib/runs/document";
import { newDocument } from "../../lib/runs/new-document";
import { runRequestSchema } from "../../lib/runs/run-request";
import type { RunSample } from "../../lib/runs/run-sample";
import { newSweepId } from "../../lib/runs/sweep";
import { printable } from "../../load-tests/lib/printable.js";
import { spreadOf, spreadText, summarise, verdictText } from "./aggregate";
import { readEvents } from "./event-stream";
import { exitCodeOf } from "./exit-codes";
import { apiErrorOf } from "./lab-client";
import {
  addSaleOptions,
  refuseContradictions,
  refuseSettingsBeside,
  runRequestOf,
  type SaleFlags,
  strategyId,
  strategyList,
} from "./options";
import { Progress } from "./progress";
import { failedClaims, resultsPage } from "./results-page";
import { isAsExpected, type SweepRun } from "./sweep";
import { bar, SweepBar, timeLeft } from "./sweep-bar";

function parse(...argv: string[]): SaleFlags {
  const command = addSaleOptions(new Command("run"))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  return command.parse(argv, { from: "user" }).opts<SaleFlags>();
}

function documentOf(change: Partial<RunDocument>): RunDocument {
  const request = runRequestSchema.parse({ strategy: "none" });
  const versions = { lab: "abc1234", node: "v20" };
  const target = { kind: "product", id: 1 } as const;
  const blank = newDocument({ id: "r", request, target, nodes: 3, expected: "safe", versions });
  return { ...blank, status: "finished", verdict: "safe", ...change };
}

const soldOut = { stock: { initial: 100, final: 0, orders: 100 } };

function sweepRun(change: Partial<RunDocument>, more: Partial<SweepRun> = {}): SweepRun {
  const document = documentOf({ ...soldOut, ...change });
  return { strategy: document.strategy, repeat: 1, document, problem: null, elapsedMs: 2_000, ...more };
}

const violations = (oversold: number) => ({ ...documentOf({}).violations, oversold });

describe("flags of a sale", () => {
  it("become a valid request for a run that the lab loads", () => {
    const request = runRequestSchema.parse(runRequestOf(parse("--stock", "10", "--nodes", "2"), "none"));
    assert.equal(request.launch, true);
    assert.equal(request.vus, 500);
    assert.equal(request.stock, 10);
    assert.equal(request.rate, undefined);
  });

  it("turn off fencing only with --no-fencing", () => {
    const fencingOf = (...argv: string[]) => runRequestSchema.parse(runRequestOf(parse(...argv), "none")).fencing;
    assert.equal(fencingOf(), undefined);
    assert.equal(fencingOf("--no-fencing"), false);
  });

  it("request arrivals by rate if --rate is given", () => {
    const request = runRequestSchema.parse(runRequestOf(parse("--rate", "50", "--target", "coupon"), "none"));
    assert.equal(request.rate, 50);
    assert.equal(request.durationMs, 10_000);
    assert.equal(request.target.kind, "coupon");
  });

  for (const flag of ["--stock", "--buyers", "--hold-ms", "--ttl-ms", "--nodes", "--rate", "--seed", "--target-id"]) {
    it(`name ${flag} if its number is invalid`, () => {
      assert.throws(
        () => parse(flag, "1.5"),
        new RegExp(`'${flag} <n>' argument '1.5' is invalid. It must be a whole`),
      );
    });
  }

  it("have the limits of the lab", () => {
    const limits = {
      "--stock": 1_000_000,
      "--buyers": 20_000,
      "--hold-ms": 10_000,
      "--ttl-ms": 120_000,
      "--nodes": 16,
    };
    for (const [flag, max] of Object.entries(limits)) {
      runRequestSchema.parse(runRequestOf(parse(flag, String(max)), "none"));
      assert.throws(() => parse(flag, String(max + 1)));
    }
  });

  it("list the valid strategies if one does not exist", () => {
    assert.throws(() => strategyId("zk-mutexx"), /Valid: none, local-mutex, .*sql-guarded/);
    assert.throws(() => strategyList("none,nope"), /Valid: none/);
    assert.deepEqual(strategyList("none, sql-guarded,none"), ["none", "sql-guarded"]);
    assert.equal(strategyList("all"), "all");
  });

  it("reject a duration without a rate", () => {
    assert.throws(() => refuseContradictions(parse("--duration-ms", "1000")), /--rate/);
    refuseContradictions(parse("--duration-ms", "1000", "--rate", "5"));
  });
});

describe("exit code of runs", () => {
  const finished = (verdict: RunDocument["verdict"]) => ({ verdict, status: "finished" }) as const;

  it("is 0 for safe, 1 for unsafe, 2 for inconclusive", () => {
    assert.equal(exitCodeOf([finished("safe")]), 0);
    assert.equal(exitCodeOf([finished("unsafe")]), 1);
    assert.equal(exitCodeOf([finished("inconclusive")]), 2);
  });

  it("is that of the worst run, and never 0 without runs or for a failed run", () => {
    assert.equal(exitCodeOf([finished("safe"), finished("inconclusive"), finished("unsafe")]), 1);
    assert.equal(exitCodeOf([finished("safe"), finished("inconclusive")]), 2);
    assert.equal(exitCodeOf([{ verdict: "safe", status: "failed" }]), 2);
    assert.equal(exitCodeOf([]), 2);
  });
});

describe("figures of several runs", () => {
  it("have a median between the middle two if their number is even", () => {
    assert.deepEqual(spreadOf([4, 1, 3, 2]), { min: 1, median: 2.5, max: 4 });
    assert.deepEqual(spreadOf([5, 1, 3]), { min: 1, median: 3, max: 5 });
    assert.equal(spreadOf([null, undefined]), null);
  });

  it("show one value if all are the same", () => {
    assert.equal(spreadText({ min: 0, median: 0, max: 0 }), "0");
    assert.equal(spreadText({ min: 10.4, median: 12, max: 15 }), "12 (10 to 15)");
    assert.equal(spreadText(null), "-");
  });

  it("count a run that was not made as failed", () => {
    const missing: SweepRun = { strategy: "none", repeat: 2, document: null, problem: "no lab", elapsedMs: 1 };
    const summary = summarise("none", [sweepRun({}), missing, sweepRun({ strategy: "other" })]);
    assert.equal(verdictText(summary), "safe 1 of 2, failed 1 of 2");
    assert.equal(isAsExpected(missing), false);
  });
});

describe("a sweep in the terminal", () => {
  it("has an id that the lab accepts and that sorts by time", () => {
    const mark = { id: newSweepId(), repeat: 1, repeats: 2, strategies: ["none"] };
    assert.equal(runRequestSchema.parse({ strategy: "none", sweep: mark }).sweep?.id, mark.id);
    assert.ok(
      newSweepId(1_795_000_000_000) < newSweepId(1_795_000_001_000),
      "expected the newer id to sort after the older one",
    );
  });

  it("has another id than every sweep that started in the same millisecond", () => {
    const ids = new Set(Array.from({ length: 200 }, () => newSweepId(1_795_000_000_000)));
    assert.equal(ids.size, 200);
  });

  it("fills its bar only at the end", () => {
    assert.equal(bar(0, 84), "[--------------------]");
    assert.equal(bar(1, 84), "[#-------------------]");
    assert.equal(bar(6, 12), "[##########----------]");
    assert.equal(bar(83, 84), "[###################-]");
    assert.equal(bar(84, 84), "[####################]");
  });

  it("estimates the remaining time after the first run", () => {
    assert.equal(timeLeft({ made: 0, left: 4, elapsedMs: 9_000 }), "");
    assert.equal(timeLeft({ made: 2, left: 4, elapsedMs: 9_000 }), "about 18 s left");
    assert.equal(timeLeft({ made: 2, left: 80, elapsedMs: 9_000 }), "about 6 min left");
    assert.equal(timeLeft({ made: 5, left: 0, elapsedMs: 9_000 }), "");
  });
});

describe("flags that take the settings of an earlier run", () => {
  const parseResume = (...argv: string[]) => {
    const command = addSaleOptions(new Command("sweep").option("--resume [id]")).exitOverride();
    command.parse(argv, { from: "user" });
    refuseSettingsBeside("--resume", command, ["resume", "url", "json"]);
  };

  it("allow --url and --json but no other setting", () => {
    parseResume("--resume", "s1", "--json");
    assert.throws(() => parseResume("--resume", "--stock", "5"), /--resume .* no other setting\. Remove --stock/);
  });
});

describe("claims of the results page", () => {
  it("hold for safe runs that sold out and for unsafe runs that oversold", () => {
    const unsafe = sweepRun({ expected: "unsafe", verdict: "unsafe", violations: violations(3) });
    assert.deepEqual(failedClaims([sweepRun({}), unsafe]), []);
  });

  const failing: [string, Partial<RunDocument>, Partial<SweepRun>, RegExp][] = [
    ["an oversell of a safe strategy", { verdict: "unsafe", violations: violations(1) }, {}, /found unsafe/],
    ["an inconclusive run", { verdict: "inconclusive" }, {}, /found inconclusive/],
    ["unsold units", { stock: { initial: 100, final: 1, orders: 99 } }, {}, /expected 100 orders, found 99/],
    [
      "an unsafe strategy without an oversell",
      { expected: "unsafe", verdict: "unsafe" },
      {},
      /expected an oversell, found none/,
    ],
    ["a run that failed", { status: "failed" }, {}, /the run is failed/],
    ["a run that took too long", {}, { elapsedMs: 61_000 }, /took 61 s/],
    ["a run that was not made", {}, { document: null, problem: "the lab is down" }, /the lab is down/],
  ];
  for (const [name, change, more, sentence] of failing) {
    it(`do not hold for ${name}`, () => {
      assert.match(failedClaims([sweepRun(change, more)]).join("\n"), sentence);
    });
  }

  it("stand on a page that separates the strategies that were not always safe", () => {
    const runs = [
      sweepRun({ strategy: "none", verdict: "unsafe" }),
      sweepRun({ strategy: "sql-guarded" }),
      sweepRun({ strategy: "mixed", verdict: "unsafe" }),
      sweepRun({ strategy: "mixed" }),
    ];
    const summaries = ["none", "sql-guarded", "mixed"].map((strategy) => summarise(strategy, runs));
    const page = resultsPage({ summaries, runs, failed: [], command: "x", loadBefore: 0 });
    const [ranked = "", unranked = ""] = page.split("Not safe in every run");
    assert.match(ranked, /`sql-guarded`/);
    assert.doesNotMatch(ranked, /`none`|`mixed`/);
    assert.match(unranked, /\| `none` \| unsafe 1 of 1 .*\| `mixed` \| safe 1 of 2, unsafe 1 of 2/s);
  });

  it("are listed on the page if they fail", () => {
    const runs = [sweepRun({ strategy: "sql-guarded" })];
    const summaries = [summarise("sql-guarded", runs)];
    const page = resultsPage({ summaries, runs, failed: ["it failed"], command: "x", loadBefore: 7.5 });
    assert.match(page, /FAILED: it failed/);
    assert.match(page, /\| `sql-guarded` \| safe 1 of 1 \|/);
    assert.match(page, /abc1234/);
    assert.match(page, /7\.50 \(high, so the times are not reliable/);
  });
});

describe("feed of a run", () => {
  it("is parsed across chunk borders", async () => {
    const text =
      'event: run\ndata: {"a":1}\n\nevent: sample\nid: 1\ndata: {"b":"ü"}\n\n: ping\n\nevent: finished\ndata: {}\n\n';
    const bytes = new TextEncoder().encode(text);
    const body = new ReadableStream<Uint8Array>({
      start(sink) {
        for (let at = 0; at < bytes.length; at += 7) sink.enqueue(bytes.slice(at, at + 7));
        sink.close();
      },
    });
    const seen: string[] = [];
    for await (const { event, data } of readEvents(body)) seen.push(`${event} ${data}`);
    assert.deepEqual(seen, ['run {"a":1}', 'sample {"b":"ü"}', "finished {}"]);
  });

  it("is shown in plain lines if lines cannot be rewritten", () => {
    const written: string[] = [];
    const progress = new Progress({ write: (text) => written.push(text) }, "none");
    progress.end("safe");
    assert.deepEqual(written, ["none: safe\n"]);
  });

  it("shows control sequences of names and results escaped, and sends only its own to a terminal", () => {
    const evil = "\u001b]0;title\u0007\u009b31m\u202e\r";
    const written: string[] = [];
    const terminal = { isTTY: true, columns: 500, write: (chunk: string) => written.push(chunk) };
    const bar = new SweepBar(terminal, 2);
    const progress = bar.progress(evil);
    const counts = { requests: 1, sold: 1 };
    progress.sample({ atMs: 1, stockLeft: 1, oversold: 0, counts, inFlight: 0 } as unknown as RunSample);
    progress.end(evil);
    bar.note(evil);
    const own = written.join("").replaceAll("\r\u001b[K", "");
    assert.equal(own, printable(own), "expected no control sequence but the erased line");
    assert.ok(own.includes("\\u001b]0;title\\u0007"), "expected the escaped text");
  });
});

describe("answers from another program than the lab", () => {
  it("are quoted", () => {
    assert.match(
      apiErrorOf(502, "<html>Bad gateway").message,
      /Another program than the lab answered 502: <html>Bad gateway/,
    );
    assert.equal(apiErrorOf(409, '{"error":{"code":"run_active","message":"m"}}').code, "run_active");
  });
});
