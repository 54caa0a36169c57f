import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { LineSplitter } from "./line-splitter";

function split(chunks: readonly (string | Uint8Array)[], maxLineChars?: number) {
  const splitter = new LineSplitter(maxLineChars);
  return [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.finish()];
}

describe("LineSplitter", () => {
  it("numbers lines from 1 and keeps the text after the last line break", () => {
    assert.deepEqual(split(["a\n\nb"]), [
      { number: 1, text: "a" },
      { number: 2, text: "" },
      { number: 3, text: "b" },
    ]);
    assert.deepEqual(split(["a\n"]), [{ number: 1, text: "a" }]);
    assert.deepEqual(split([]), []);
  });

  it("skips a line that is too long and reads the next one", () => {
    assert.deepEqual(split(["abc", "defgh\nok\n"], 5), [
      { number: 1, text: null },
      { number: 2, text: "ok" },
    ]);
    assert.deepEqual(split(["abcdef"], 5), [{ number: 1, text: null }]);
  });

  it("finds the same lines for any chunk boundaries, also within a character", () => {
    const text = fc.array(fc.constantFrom("a", "ß", "€", "🙂", "\n"), { maxLength: 40 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat(100), { maxLength: 8 }), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const chunks = places.slice(1).map((to, index) => bytes.subarray(places[index], to));
        assert.deepEqual(split(chunks), split([whole]));
        assert.equal(
          split(chunks)
            .map((line) => line.text)
            .join("\n"),
          whole.replace(/\n$/, ""),
        );
      }),
    );
  });
});
