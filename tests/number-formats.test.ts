import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { ROOT } from "../bin/supervisor/paths";

/** Numbers of one kind look the same on every page, because two modules format all of them. */

const FOLDERS = ["app", "lib/runs", "lib/history", "lib/faults"];
const FORMATS = /\.(toFixed|toPrecision|toLocaleString|padStart|padEnd)\(|\bIntl\./;

/** Files that format no number for a reader. */
const OTHERS: Readonly<Record<string, string>> = {
  "app/_lib/format.ts": "the formats of the pages",
  "app/_lib/export/run-csv.ts": "a file format",
  "app/_lib/export/run-hgrm.ts": "a file format",
  "app/_lib/export/svg-charts.ts": "coordinates",
  "app/_lib/shop/idempotent-request.ts": "hexadecimal digits of a key",
  "lib/runs/measure-run.ts": "rounds stored figures",
  "lib/runs/percentile-axis.ts": "coordinates",
  "lib/runs/run-id.ts": "an identifier",
};

const files = FOLDERS.flatMap((folder) =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((file) => `${folder}/${file}`),
).filter((file) => /\.tsx?$/.test(file) && !/\.test\.ts$|\/testing\//.test(file));
const formatting = files.filter((file) => FORMATS.test(readFileSync(path.join(ROOT, file), "utf8")));

describe("numbers", () => {
  it("are formatted by lib/services/number-text.ts and app/_lib/format.ts alone", () => {
    assert.deepEqual(
      formatting.filter((file) => !(file in OTHERS)),
      [],
      "expected a function of these modules instead",
    );
  });

  it("are formatted elsewhere only in files that still do so", () => {
    assert.deepEqual(
      Object.keys(OTHERS).filter((file) => !formatting.includes(file)),
      [],
    );
  });
});
