// @alone: it waits for timers, and other files need not wait for it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { waitUntil } from "../../../tests/support/wait-until";
import { clientReport } from "../testing/run-fixture";
import { busiestSecond, readCpu, watchGenerator, withGeneratorCpu } from "./cpu-watch";

const readings = (...triples: [number, number, number][]) =>
  triples.map(([atMs, usedMs, idleMs]) => ({ atMs, usedMs, idleMs }));

describe("busiestSecond", () => {
  it("is the second with the highest use, not the average, with the idle time of the same second", () => {
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

  it("uses a longer window if a reading was late", () => {
    assert.equal(busiestSecond(readings([0, 0, 0], [400, 400, 0], [2_000, 1_000, 0]))?.percent, 37.5);
  });

  it("is null before a second has passed", () => {
    assert.equal(busiestSecond(readings([0, 0, 0], [999, 999, 0])), null);
    assert.equal(busiestSecond([]), null);
  });
});

const report = clientReport();

const isLinux = process.platform === "linux";

describe("CPU use of a process", { skip: isLinux ? false : "not applicable: this system has no /proc" }, () => {
  it("rises while the process works", () => {
    const before = readCpu(process.pid)?.usedMs ?? Number.NaN;
    const { user, system } = process.cpuUsage();
    while (process.cpuUsage().user + process.cpuUsage().system < user + system + 50_000) JSON.stringify(process.env);
    assert.ok((readCpu(process.pid)?.usedMs ?? 0) >= before + 30);
  });

  it("is null for a process that does not exist", () => {
    assert.equal(readCpu(2 ** 30), null);
  });

  it("is added to the report of a generator that the lab started, until its run ends", async () => {
    const runEnded = new AbortController();
    watchGenerator("run", process.pid, runEnded.signal);
    assert.match(withGeneratorCpu("run", report).generatorCpuUnknown ?? "", /less than a second/);
    await waitUntil(() => withGeneratorCpu("run", report).generatorCpuPercent !== undefined, {
      what: "readings of one second",
    });
    const completed = withGeneratorCpu("run", report);
    assert.equal(completed.generatorProcess, "node");
    assert.ok((completed.generatorSparePercent ?? -1) >= 0);
    assert.equal("generatorCpuUnknown" in completed, false);
    runEnded.abort();
    assert.match(withGeneratorCpu("run", report).generatorCpuUnknown ?? "", /did not start this load generator/);
  });

  it("is not known for a generator that the lab did not start", () => {
    const { generatorCpuPercent, generatorCpuUnknown } = withGeneratorCpu("external", report);
    assert.equal(generatorCpuPercent, undefined);
    assert.match(generatorCpuUnknown ?? "", /did not start this load generator/);
  });

  it("stays as the generator reported it, if it did", () => {
    const own = { ...report, generatorCpuPercent: 12 };
    assert.deepEqual(withGeneratorCpu("external", own), own);
  });
});
