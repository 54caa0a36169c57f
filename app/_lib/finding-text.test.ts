import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ExplainedFinding } from "@/lib/runs/evidence";
import {
  afterText,
  alarmedSpans,
  coverText,
  findingTimeText,
  findingTitle,
  groupFindings,
  kindText,
  positionText,
} from "./finding-text";
import { openingFinding } from "./opening-finding";

describe("a finding that covers several violations", () => {
  it("is counted with them", () => {
    assert.equal(coverText([{ covers: 400 }, {}], 401), "401 in 2 findings");
    assert.equal(coverText([{}, {}], 2), "2");
    assert.equal(coverText([{}], 498), "498, first 1 listed");
  });
});

describe("the place of a finding", () => {
  it("counts all findings, as the arrows beside it move through all", () => {
    const findings = [
      { kind: "lostUpdates", atUs: 1_240_000 },
      { kind: "overlappingHolds", atUs: null },
    ] as const;
    assert.equal(positionText(findings, findings[0]), "Finding 1 of 2: lost update, at 1.240 s");
    assert.equal(positionText(findings, findings[1]), "Finding 2 of 2: overlapping hold");
  });
});

describe("a stale write that fencing refused", () => {
  const refused = { kind: "refusedStaleWrite", isViolation: false, name: "refusedStaleWrite-1" } as const;
  const overlap = { kind: "fencedOverlap", isViolation: false, name: "fencedOverlap-1" } as const;
  const violation = { kind: "lostUpdates", isViolation: true, name: "lostUpdates-1" } as const;

  it("is what a page without a violation opens on", () => {
    assert.equal(openingFinding([overlap, refused]), refused);
    assert.equal(openingFinding([refused, violation]), violation);
    assert.equal(openingFinding([overlap]), null);
  });

  it("is told by its two tokens", () => {
    const title = findingTitle({ kind: "refusedStaleWrite", tokens: { stale: "1", newest: "52" } });
    assert.equal(title, "Fencing refused a stale write: token 1 < 52");
    assert.equal(findingTitle({ kind: "lostUpdates" }), "Interleaving");
  });
});

describe("the alarm colour", () => {
  const actors = [{ opId: "late" }, { opId: "innocent" }];
  const explained = (isViolation: boolean, marked: string) =>
    ({
      finding: { isViolation },
      interleaving: {
        actors,
        steps: [
          { opId: marked, isMarked: true },
          { opId: "innocent", isMarked: false },
        ],
      },
      spans: [7, 9],
    }) as unknown as ExplainedFinding;

  it("is only on the purchase that broke the rule", () => {
    assert.deepEqual(alarmedSpans(explained(true, "late")), [7]);
    assert.deepEqual(alarmedSpans(explained(false, "late")), []);
  });
});

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
