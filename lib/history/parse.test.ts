import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { checkHistory } from "./check-history";
import { countFields } from "./field-count";
import { MAX_FINDINGS_PER_KIND } from "./finding";
import { parseHistory } from "./parse";
import { op, rowOf } from "./testing/make-history";

const run = {
  type: "run",
  runId: "r",
  strategy: "s",
  resource: "product:1",
  initial: 3,
  limitPerBuyer: null,
  hosts: 1,
};
const [first, second] = [op({ answeredNs: 9 }), op({ answeredNs: 9 })];
const end = { type: "end", final: 1, orders: [rowOf(first), rowOf(second)], dropped: 0 };
const text = (...lines: readonly object[]) => lines.map((line) => JSON.stringify(line)).join("\n");
const kindsOf = async (source: Parameters<typeof parseHistory>[0]) =>
  (await parseHistory(source)).doubts.map(({ kind }) => kind);

describe("parseHistory", () => {
  it("accepts a byte order mark, blank lines and CRLF", async () => {
    const whole = text(run, first, second, end);
    for (const variant of [whole, `${whole}\n`, `\uFEFF${whole}\n\n`, whole.replaceAll("\n", "\r\n")]) {
      const parsed = await parseHistory([variant]);
      assert.deepEqual(parsed.doubts, []);
      assert.equal(parsed.history.ops.length, 2);
      assert.equal(parsed.history.isComplete, true);
      assert.equal(parsed.end?.final, 1);
    }
  });

  it("reports an unknown field and uses no operation that has one", async () => {
    const order = { ...rowOf(first), pod: "x" };
    const ends = { ...end, orders: [rowOf(second), order] };
    const parsed = await parseHistory([text({ ...run, more: 1 }, { ...first, readValu: 3 }, second, ends)]);
    assert.deepEqual(
      parsed.doubts.map(({ kind, sentence }) => [kind, sentence]),
      [
        ["unknownField", "Line 1 has the unknown field more."],
        ["unknownField", "Line 2 has the unknown field readValu."],
        ["unknownField", "Line 4 has the unknown field orders.1.pod."],
      ],
    );
    assert.deepEqual(
      parsed.history.ops.map(({ opId }) => opId),
      [second.opId],
    );
  });

  it("uses no operation that lacks one of the fields that it counts", async () => {
    const { answeredNs: _, ...damaged } = countFields({ ...first });
    const parsed = await parseHistory([text(run, damaged, countFields({ ...second }), end)]);
    assert.deepEqual(
      parsed.doubts.map(({ kind, sentence }) => [kind, sentence]),
      [["missingFields", `Line 2 has 9 of the 10 fields of ${first.opId}.`]],
    );
    assert.deepEqual(
      parsed.history.ops.map(({ opId }) => opId),
      [second.opId],
    );
  });

  it("uses no line whose outcome contradicts its order", async () => {
    const refused = { ...first, outcome: "sold_out", orderId: "7" };
    const parsed = await parseHistory([text(run, refused, second, end)]);
    assert.deepEqual(
      parsed.doubts.map(({ kind }) => kind),
      ["contradictoryFields"],
    );
    assert.match(parsed.doubts[0]?.sentence ?? "", /^Line 2 gives op-\d+ the outcome sold_out and the order 7\.$/);
    assert.equal(parsed.history.ops.length, 1);
  });

  for (const [defect, change] of [
    ["no outcome", { outcome: undefined }],
    ["a time as a number", { invokedNs: 5 }],
    ["a time in hexadecimal", { invokedNs: "0x5" }],
    ["a negative time", { invokedNs: "-5" }],
    ["a quantity of zero", { quantity: 0 }],
    ["a fractional quantity", { quantity: 0.5 }],
    ["an empty opId", { opId: "" }],
    ["a buyerId that is too long", { buyerId: "x".repeat(501) }],
    ["a fencing token that is not a number", { fencingToken: "latest" }],
    ["a null field", { grantedNs: null }],
    ["an unknown type", { type: "note" }],
  ] as const) {
    it(`rejects a line with ${defect}`, async () => {
      const parsed = await parseHistory([text(run, { ...first, ...change }, second, end)]);
      assert.deepEqual(
        parsed.doubts.map(({ kind, line }) => [kind, line]),
        [["unreadableLine", 2]],
      );
      assert.match(parsed.doubts[0]?.sentence ?? "", /^Line 2 is not a valid history line: \S+: .+\.$/);
    });
  }

  it("is incomplete if the file has fewer operations than the end line says", async () => {
    const parsed = await parseHistory([text(run, first, { ...end, operations: 2 })]);
    assert.deepEqual(
      parsed.doubts.map(({ kind, sentence }) => [kind, sentence]),
      [["missingOperations", "1 line of 2 operations is missing."]],
    );
    assert.equal(parsed.history.isComplete, false);
    assert.deepEqual(await kindsOf([text(run, first, second, { ...end, operations: 2 })]), []);
  });

  it("drops both lines that have the same opId", async () => {
    const parsed = await parseHistory([text(run, first, { ...first, outcome: "sold_out" }, second, end)]);
    assert.deepEqual(
      parsed.history.ops.map(({ opId }) => opId),
      [second.opId],
    );
  });

  it("lists a limited number of doubts of a kind and says how many are omitted", async () => {
    const parsed = await parseHistory(["?\n".repeat(MAX_FINDINGS_PER_KIND + 7)]);
    const unreadable = parsed.doubts.filter(({ kind }) => kind === "unreadableLine");
    assert.equal(unreadable.length, MAX_FINDINGS_PER_KIND + 1);
    assert.equal(unreadable.at(-1)?.sentence, "7 more findings of this kind are not listed.");
  });

  it("says after which line a read error occurred", async () => {
    async function* broken() {
      yield `${text(run, first)}\n`;
      throw new Error("disk on fire");
    }
    const parsed = await parseHistory(broken());
    assert.equal(parsed.doubts[0]?.sentence, "Reading stopped after 2 lines: disk on fire.");
    assert.equal(parsed.history.isComplete, false);
  });

  it("never throws and is never safe if the bytes are damaged", async () => {
    const bytes = Buffer.from(`${text(run, first, second, end)}\n`);
    const damage = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((noise) => [noise]),
      fc.nat(bytes.length - 2).map((length) => [bytes.subarray(0, length)]),
      fc
        .tuple(fc.nat(bytes.length), fc.uint8Array({ minLength: 1, maxLength: 5 }))
        .map(([at, noise]) => [
          bytes.subarray(0, at),
          Buffer.from([10, ...noise.map((byte) => byte | 128), 10]),
          bytes.subarray(at),
        ]),
    );
    await fc.assert(
      fc.asyncProperty(damage, async (chunks) => {
        const { verdict, findings } = await checkHistory(chunks);
        assert.notEqual(verdict, "safe");
        assert.ok(findings.length > 0);
      }),
      { numRuns: 500 },
    );
  });

  it("is inconclusive for arbitrary JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.json(), { maxLength: 5 }), async (values) => {
        assert.equal((await checkHistory([values.join("\n")])).verdict, "inconclusive");
      }),
    );
  });
});
