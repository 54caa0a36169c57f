import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { runDocument } from "@/lib/runs/testing/run-fixture";
import type { Catalogue } from "../strategy-catalogue";
import { presetOf, requestOf, setupOf } from "./chapter-preset";
import { CHAPTERS } from "./chapters/all-chapters";

const cells = CHAPTERS[6]?.steps[0].cells ?? assert.fail("expected a seventh chapter");

interface Terms {
  readonly nodes?: number;
  readonly unavailable?: string;
  readonly impossible?: Readonly<Record<string, string>>;
}

function labWith({ nodes = 3, unavailable, impossible = {} }: Terms): Catalogue {
  return {
    strategies: [{ id: "redlock", available: unavailable === undefined, unavailableReason: unavailable ?? null }],
    faults: cells.map(({ fault }) => {
      const reason = impossible[fault ?? ""];
      return { id: fault, reasonsAgainst: reason === undefined ? {} : { redlock: reason } };
    }),
    nodes: Array.from({ length: nodes }, (_, index) => ({ name: `node-${index + 1}`, url: "" })),
  } as unknown as Catalogue;
}

describe("the run of a step", () => {
  it("is the first one if the lab can make it", () => {
    const preset = presetOf(cells, labWith({}));
    assert.ok("request" in preset);
    assert.deepEqual([preset.cell.fault, preset.insteadBecause], ["clock-jump", null]);
    assert.equal(preset.request.faults?.[0]?.id, "clock-jump");
    assert.match(preset.command, /^npm run lab -- run --strategy redlock .*--fault clock-jump@0$/);
  });

  it("is the alternative, with the reason, if the lab cannot move a clock", () => {
    const preset = presetOf(cells, labWith({ impossible: { "clock-jump": "there is no C compiler" } }));
    assert.ok("request" in preset);
    assert.equal(preset.cell.fault, "redlock-node-restart");
    assert.equal(preset.insteadBecause, "The fault clock-jump is not possible in this lab: there is no C compiler.");
  });

  it("is none, with every reason, if the lab can make neither", () => {
    const impossible = { "clock-jump": "one", "redlock-node-restart": "two" };
    const preset = presetOf(cells, labWith({ impossible }));
    assert.ok("reasons" in preset);
    assert.deepEqual(preset.reasons.length, 2);
    assert.match(preset.reasons.join(), /clock-jump .*: one\..*redlock-node-restart .*: two\./);
  });

  it("is none without its servers, or with one store node", () => {
    const absent = presetOf(cells, labWith({ unavailable: "Redlock needs five servers." }));
    assert.deepEqual("reasons" in absent && absent.reasons[0], "Redlock needs five servers.");
    const alone = presetOf(cells, labWith({ nodes: 1 }));
    assert.match(("reasons" in alone && alone.reasons[0]) || "", /at least two store nodes/);
  });
});

describe("the setup of a step", () => {
  const preset = presetOf(cells, labWith({}));

  it("is that of the run which this lab makes", () => {
    assert.deepEqual(setupOf(cells, preset, null)?.cell, cells[0]);
  });

  it("is that of the run which is shown, also if another lab made it", () => {
    const restart = cells[1] ?? assert.fail("expected an alternative");
    const { strategy, faults = [] } = requestOf(restart);
    const run = runDocument({ strategy });
    const shown = { ...run, config: { ...run.config, stock: 77, vus: 5, rate: null, faults: [...faults], nodes: 3 } };
    for (const own of [preset, { reasons: ["Redlock needs five servers."] }]) {
      const setup = setupOf(cells, own, shown);
      assert.deepEqual([setup?.cell, setup?.sale.stock, setup?.sale.vus], [restart, 77, 5]);
    }
  });

  it("is none without a run", () => {
    assert.equal(setupOf(cells, { reasons: ["Redlock needs five servers."] }, null), null);
  });
});
