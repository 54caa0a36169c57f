import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lab, said } from "../tests/integration/lab/lab-command";

/** Wrong use is told from findings by its exit code, and names what would have been right. */
const CANNOT_RUN = 2;

describe("npm run lab", () => {
  const cases: [string, string[], RegExp][] = [
    ["names the commands for an unknown one", ["upp"], /Did you mean up\?[\s\S]*Valid commands: up, down, status/],
    [
      "names the options for an unknown one",
      ["up", "--detatch"],
      /Did you mean --detach\?[\s\S]*Valid options of `up`: -d, --detach/,
    ],
    ["names the strategies for an unknown one", ["run", "--strategy", "nope"], /nope[\s\S]*none, local-mutex/],
    ["names the stages for an unknown one", ["test", "--stage", "unitt"], /Valid stages: check, unit, conformance/],
    ["says what a port base may be", ["up", "--port-base", "80"], /whole number from 1024 to 32600/],
    ["refuses an instance name that leaves its folder", ["status", "--instance", "../x"], /is no instance name/],
    ["refuses a migration name that is no name", ["migrate", "--diff", "Add index"], /lower-case letters/],
  ];
  for (const [does, args, expected] of cases) {
    it(`${does} (${args.join(" ")})`, async () => {
      const ended = await lab(args);
      assert.equal(ended.code, CANNOT_RUN, said(ended));
      assert.match(ended.stderr, expected);
    });
  }

  it("lists its commands", async () => {
    const ended = await lab(["--help"]);
    assert.equal(ended.code, 0, said(ended));
    for (const name of ["up", "down", "doctor", "run", "k6", "test"])
      assert.match(ended.stdout, new RegExp(`^ +${name} `, "m"));
  });

  it("examines the machine for people and for programs, and changes nothing", async () => {
    const ended = await lab(["doctor", "--json"]);
    const { canStart, findings } = JSON.parse(ended.stdout) as { canStart: boolean; findings: { name: string }[] };
    assert.equal(ended.code, canStart ? 0 : 1);
    const names = findings.map(({ name }) => name);
    for (const name of ["Node.js", "PostgreSQL", "Redis", "ZooKeeper", "ports", "k6"])
      assert.ok(names.includes(name), name);
  });
});
