import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../bin/supervisor/paths";

/** Stripes mean a violation. A reader who cannot see colours relies on that. */

const files = readdirSync(path.join(ROOT, "app"), { recursive: true, encoding: "utf8" })
  .map((file) => path.join("app", file))
  .filter((file) => /\.(css|tsx?)$/.test(file) && !file.endsWith(".test.ts"));
const text = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

/** The stripes of the legend take the colour of the chart's line. */
const LEGEND = /currentcolor/;

describe("stripes", () => {
  it("have the colour of violations in every style sheet", () => {
    const gradients = files.flatMap((file) =>
      (text(file).match(/repeating-linear-gradient\([^;]*/g) ?? []).map((gradient) => ({ file, gradient })),
    );
    assert.ok(gradients.length >= 5, `expected 5 striped elements or more, found ${gradients.length}`);
    const others = gradients.filter(({ gradient }) => !gradient.includes("var(--alarm)") && !LEGEND.test(gradient));
    assert.deepEqual(others, []);
  });

  it("have the colour of violations in every drawing and in the exported file", () => {
    const calls = files.flatMap((file) =>
      (
        text(file).match(
          /\bhatch\((?:[^()]|\([^()]*\))*\)|stripes\("[^)]*\)|mark: "hatched"|colour: "[a-z-]+", mark: "hatched"/g,
        ) ?? []
      ).map((call) => ({ file, call })),
    );
    const drawn = calls.filter(({ call }) => !call.startsWith("hatch(context") && call !== 'mark: "hatched"');
    assert.ok(drawn.length >= 3, `expected 3 calls or more, found ${drawn.length}`);
    assert.deepEqual(
      drawn.filter(({ call }) => !/alarm/.test(call)),
      [],
    );
  });
});
