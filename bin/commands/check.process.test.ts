import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import type { HistoryReport } from "../../lib/history/check-history";
import { ROOT } from "../supervisor/paths";

describe("lab check", () => {
  it("works as a process: reads a pipe, prints JSON and exits 1 for an unsafe history", () => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [path.join(ROOT, "bin", "bootstrap.mjs"), "check", "-", "--json"],
      {
        encoding: "utf8",
        env,
        timeout: 60_000,
        input: readFileSync(path.join(ROOT, "tests", "history", "cases", "lost-update.ndjson")),
      },
    );
    assert.equal(status, 1, stderr);
    assert.equal((JSON.parse(stdout) as HistoryReport).verdict, "unsafe");
  });
});
