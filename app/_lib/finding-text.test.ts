import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { afterText, findingTimeText, groupFindings, kindText } from "./finding-text";

describe("times of steps", () => {
  it("have one sign", () => {
    assert.deepEqual([0, 12_340_000, -38_303_000, -400].map(afterText), ["+0.000", "+12.340", "−38.303", "+0.000"]);
  });
});

describe("text of findings", () => {
  it("groups findings by kind in input order", () => {
    const findings = [{ kind: "staleWrites" }, { kind: "oversold" }, { kind: "staleWrites" }] as const;
    assert.deepEqual(
      groupFindings(findings).map(({ kind, findings: members }) => [kind, members.length]),
      [
        ["staleWrites", 2],
        ["oversold", 1],
      ],
    );
    assert.equal(kindText("staleWrites", 1), "Stale write");
  });

  it("writes times with a fixed number of decimals", () => {
    assert.deepEqual([afterText(0), afterText(12_345_678)], ["+0.000", "+12.346"]);
    assert.deepEqual([findingTimeText(411_000), findingTimeText(null)], ["0.411 s", "–"]);
  });
});
