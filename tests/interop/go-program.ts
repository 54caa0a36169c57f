import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findExecutable, runCommand } from "../../servers/commands";

const BUILD_TIMEOUT_MS = 5 * 60_000;

const go = findExecutable("go", ["/usr/local/go/bin/go"]);

/** In CI a missing Go fails the tests that need it. On a developer's machine they are skipped. */
export const skipWithoutGo = go === null && !process.env.CI ? "Go is not installed" : false;

/** A built program in a temporary folder, which disposal deletes. */
export interface GoProgram extends AsyncDisposable {
  readonly binary: string;
  /** For files of the test. */
  readonly folder: string;
}

export async function buildGoProgram(source: string): Promise<GoProgram> {
  assert.ok(go, "this test needs Go: https://go.dev/dl/");
  const folder = await mkdtemp(path.join(tmpdir(), "go-program-"));
  const binary = path.join(folder, "program");
  const env = { GOFLAGS: "-mod=readonly" };
  const built = await runCommand(go, ["build", "-o", binary, "."], { cwd: source, timeoutMs: BUILD_TIMEOUT_MS, env });
  assert.equal(built.code, 0, built.stderr);
  return { binary, folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
