import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";

/** WCAG 1.4.11: what a part of a chart must have against its background. */
const MIN_CONTRAST = 3;
const GROUNDS = ["paper", "field"];
const CHART_COLOUR = /^(phase|answer|curve)-/;

/** The colours of the light and of the dark theme, by name. */
function themes(): readonly Map<string, string>[] {
  const css = readFileSync("app/globals.css", "utf8");
  const all = [...css.matchAll(/--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
  return [2, 3].map((theme) => new Map(all.map((match) => [match[1] ?? "", match[theme] ?? ""])));
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

it("gives every colour of a chart a contrast of 3 in both themes", () => {
  for (const [index, theme] of themes().entries()) {
    const names = [...theme.keys()].filter((name) => CHART_COLOUR.test(name));
    assert.ok(names.length >= 10, `expected the colours of the charts, found ${names.join(", ")}`);
    for (const name of names) {
      for (const ground of GROUNDS) {
        const found = contrast(theme.get(name) ?? "", theme.get(ground) ?? "");
        const where = `${name} on ${ground} in the ${index === 0 ? "light" : "dark"} theme`;
        assert.ok(
          found >= MIN_CONTRAST,
          `expected ${where} to have at least ${MIN_CONTRAST}, found ${found.toFixed(2)}`,
        );
      }
    }
  }
});
