import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitUntil } from "../../../tests/support/wait-until";
import { clientReport } from "../testing/run-fixture";
import { busiestSecond, readCpu, watchGenerator, withGeneratorCpu } from "./cpu-watch";

const readings = (...triples: [number, number, number][]) =>
  triples.map(([atMs, usedMs, idleMs]) => ({ atMs, usedMs, idleMs }));

describe("busiestSecond", () => {
  it("is the most of any second, not the average, with what was left in that second", () => {
    const idleThenBusy = readings(
      [0, 0, 0],
      [500, 0, 1_000],
      [1_000, 0, 2_000],
      [1_500, 900, 2_050],
      [2_000, 1_800, 2_100],
      [2_500, 1_800, 3_100],
    );
    assert.deepEqual(busiestSecond(idleThenBusy), { percent: 180, sparePercent: 10 });
  });

  it("takes a longer stretch where a reading came late", () => {
    assert.equal(busiestSecond(readings([0, 0, 0], [400, 400, 0], [2_000, 1_000, 0]))?.percent, 37.5);
  });

  it("is not known before a second has passed", () => {
    assert.equal(busiestSecond(readings([0, 0, 0], [999, 999, 0])), null);
    assert.equal(busiestSecond([]), null);
  });
});

const report = clientReport();

const isLinux = process.platform === "linux";

describe("a process's use of the processor", { skip: isLinux ? false : "not applicable: there is no /proc" }, () => {
  it("rises as it works", () => {
    const before = readCpu(process.pid)?.usedMs ?? Number.NaN;
    const { user, system } = process.cpuUsage();
    while (process.cpuUsage().user + process.cpuUsage().system < user + system + 50_000) JSON.stringify(process.env);
    assert.ok((readCpu(process.pid)?.usedMs ?? 0) >= before + 30);
  });

  it("is told of the generator that was watched, with its name, until the run is over", async () => {
    const over = new AbortController();
    const watch = watchGenerator("run", over.signal);
    watch.follow(process.pid);
    assert.match(withGeneratorCpu("run", report).generatorCpuUnknown ?? "", /less than a second/);
    await waitUntil(() => watch.tell().generatorCpuPercent !== undefined, { what: "a second of readings" });
    const told = withGeneratorCpu("run", report);
    assert.equal(told.generatorProcess, "node");
    assert.ok((told.generatorSparePercent ?? -1) >= 0);
    assert.equal("generatorCpuUnknown" in told, false);
    over.abort();
    assert.match(withGeneratorCpu("run", report).generatorCpuUnknown ?? "", /nobody watched/);
  });

  it("is not known of a process that is not there, or that may not be the generator", () => {
    const over = new AbortController();
    assert.equal(readCpu(2 ** 30), null);
    const watch = watchGenerator("other", over.signal);
    watch.follow(process.pid);
    watch.doubt = "it sent nothing";
    assert.deepEqual(withGeneratorCpu("other", report), { ...report, generatorCpuUnknown: "it sent nothing" });
    over.abort();
  });

  it("is what the generator says itself, where it does", () => {
    const own = { ...report, generatorCpuPercent: 12 };
    assert.deepEqual(withGeneratorCpu("nobody", own), own);
  });
});
