import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lab, outputOf } from "../tests/integration/lab/lab-command";

/** The exit code of wrong usage; 1 stands for findings. */
const CANNOT_RUN = 2;

describe("npm run lab", () => {
  const cases: [string, string[], RegExp][] = [
    [
      "lists the valid commands after an unknown one",
      ["upp"],
      /Did you mean up\?[\s\S]*Valid commands: up, down, status/,
    ],
    [
      "lists the valid options after an unknown one",
      ["up", "--detatch"],
      /Did you mean --detach\?[\s\S]*Valid options of `up`: -d, --detach/,
    ],
    ["lists the valid strategies after an unknown one", ["run", "--strategy", "nope"], /nope[\s\S]*none, local-mutex/],
    ["lists the valid stages after an unknown one", ["test", "--stage", "unitt"], /Valid stages: check, unit,/],
    ["states the range of a port base", ["up", "--port-base", "80"], /whole number from 1024 to 32600/],
    ["rejects an instance name that leaves its folder", ["status", "--instance", "../x"], /is not an instance name/],
    ["rejects an invalid migration name", ["migrate", "--diff", "Add index"], /lower-case letters/],
  ];
  for (const [does, args, expected] of cases) {
    it(`${does} (${args.join(" ")})`, async () => {
      const ended = await lab(args);
      assert.equal(ended.code, CANNOT_RUN, outputOf(ended));
      assert.match(ended.stderr, expected);
    });
  }

  it("lists its commands", async () => {
    const ended = await lab(["--help"]);
    assert.equal(ended.code, 0, outputOf(ended));
    for (const name of ["up", "down", "doctor", "run", "k6", "test"])
      assert.match(ended.stdout, new RegExp(`^ +${name} `, "m"));
  });

  it("reports on the machine as JSON: whether the lab can start, and each finding", async () => {
    const ended = await lab(["doctor", "--json"]);
    const { canStart, findings } = JSON.parse(ended.stdout) as { canStart: boolean; findings: { name: string }[] };
    assert.equal(ended.code, canStart ? 0 : 1);
    const names = findings.map(({ name }) => name);
    for (const name of ["Node.js", "PostgreSQL", "Redis", "ZooKeeper", "ports", "k6"])
      assert.ok(names.includes(name), name);
  });
});
