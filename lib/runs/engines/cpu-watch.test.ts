import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { busiestPercent, generatorCpuPercent, usedMsOf, watchGeneratorCpu } from "./cpu-watch";

const readings = (...pairs: [number, number][]) => pairs.map(([atMs, usedMs]) => ({ atMs, usedMs }));

describe("busiestPercent", () => {
  it("is the most of any second, not the average", () => {
    const idleThenBusy = readings([0, 0], [500, 0], [1_000, 0], [1_500, 900], [2_000, 1_800], [2_500, 1_800]);
    assert.equal(busiestPercent(idleThenBusy), 180);
  });

  it("takes a longer stretch where a reading came late", () => {
    assert.equal(busiestPercent(readings([0, 0], [400, 400], [2_000, 1_000])), 37.5);
  });

  it("is not known before a second has passed", () => {
    assert.equal(busiestPercent(readings([0, 0], [999, 999])), null);
    assert.equal(busiestPercent([]), null);
  });
});

const isLinux = process.platform === "linux";

describe("a process's use of the processor", { skip: isLinux ? false : "not applicable: there is no /proc" }, () => {
  it("rises as it works", () => {
    const before = usedMsOf(process.pid) ?? Number.NaN;
    const { user, system } = process.cpuUsage();
    while (process.cpuUsage().user + process.cpuUsage().system < user + system + 50_000) JSON.stringify(process.env);
    assert.ok((usedMsOf(process.pid) ?? 0) >= before + 30);
  });

  it("is not known of a process that is not there, or that nobody watched", () => {
    assert.equal(usedMsOf(2 ** 30), null);
    assert.equal(generatorCpuPercent("nobody"), undefined);
    watchGeneratorCpu("run", process.pid)();
    assert.equal(generatorCpuPercent("run"), undefined);
  });
});
