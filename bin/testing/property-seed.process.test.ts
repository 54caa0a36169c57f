import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, it } from "node:test";

const SCRIPT = `
  import fc from "fast-check";
  const fail = () => fc.assert(fc.property(fc.nat(), (number) => number < 10));
  try { fail() } catch (error) { console.log(error.message) }
`;

/** The message of a failing property in the process of a test file. */
function failWith(seed = ""): string {
  const args = ["--import", "./bin/testing/seed-properties.mjs", "--input-type=module", "-e", SCRIPT];
  const env = { ...process.env, PROPERTY_SEED: seed };
  return spawnSync(process.execPath, args, { env, encoding: "utf8" }).stdout;
}

describe("the seed of property tests", () => {
  it("is in the message of a failing property, and repeats the failure", () => {
    const first = failWith();
    const [, seed] = /seed: (-?\d+),/.exec(first) ?? [];
    assert.equal(failWith(seed), first);
    assert.notEqual(failWith("1"), failWith("2"));
  });
});
