import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { requireEnv } from "../../support/lab-env";

const repository = fileURLToPath(new URL("../../..", import.meta.url));

it("runs the example of lib/locks/README.md", () => {
  requireEnv("REDIS_URL");
  const readme = readFileSync(path.join(repository, "lib/locks/README.md"), "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  assert.ok(example, "lib/locks/README.md has no ts example");
  // Inside the repository, so that packages resolve, in a folder that git ignores.
  mkdirSync(path.join(repository, ".lab"), { recursive: true });
  const folder = mkdtempSync(path.join(repository, ".lab/readme-"));
  try {
    const script = path.join(folder, "example.mts");
    writeFileSync(script, example.replaceAll('"./lib/', '"../../lib/'));
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", script], {
      encoding: "utf8",
      cwd: repository,
      timeout: 20_000,
    });
    assert.equal(stdout.trim(), "paid, lease held", stderr);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
