import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { checkHistory } from "../../lib/history/check-history";

type Line = Readonly<Record<string, unknown>>;

/** A sound history whose lines state their number of fields. */
interface Sound {
  readonly name: string;
  readonly lines: readonly Line[];
}

const FOLDERS = ["./cases/", "../../docs/history-examples/"].map((path) => new URL(path, import.meta.url));
const IS_SOUND = /^(clean-|one-holder).*\.ndjson$/;
const SOUND: readonly Sound[] = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((file) => IS_SOUND.test(file))
    .map((name) => ({ name, lines: parse(readFileSync(new URL(name, folder), "utf8")) })),
);

function parse(text: string): Line[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Every field of every line that `isDamaged` accepts. */
function fieldsOf({ lines }: Sound, isDamaged: (line: Line) => boolean) {
  return lines.flatMap((line, at) => (isDamaged(line) ? Object.keys(line).map((field) => ({ at, field })) : []));
}

/** The history with one field of one line renamed, or removed if `name` is null. */
function renamed(lines: readonly Line[], { at, field }: { at: number; field: string }, name: string | null): string {
  const change = (line: Line): Line =>
    Object.fromEntries(
      Object.entries(line).flatMap(([key, value]) => {
        if (key !== field) return [[key, value]];
        return name === null ? [] : [[name, value]];
      }),
    );
  return lines.map((line, index) => JSON.stringify(index === at ? change(line) : line)).join("\n");
}

async function assertInconclusive(text: string, damage: string): Promise<void> {
  const { verdict, findings } = await checkHistory([text]);
  assert.equal(verdict, "inconclusive", `${damage}: ${findings[0]?.sentence ?? "no finding"}`);
}

const isOp = ({ type }: Line) => type === "op";

describe("a sound history with one damaged field is inconclusive and never unsafe", () => {
  it("has 16 or more sound histories, and each operation states its number of fields", () => {
    assert.ok(SOUND.length >= 16, `expected 16 histories, found ${SOUND.length}`);
    for (const { name, lines } of SOUND) {
      for (const op of lines.filter(isOp)) assert.equal(op.fields, Object.keys(op).length, `${name}: ${op.opId}`);
    }
  });

  for (const sound of SOUND) {
    it(`if ${sound.name} lacks any one field of an operation`, async () => {
      for (const place of fieldsOf(sound, isOp)) {
        // Without the count, the other fields are still all there.
        if (place.field === "fields") continue;
        await assertInconclusive(renamed(sound.lines, place, null), `without ${place.field} of line ${place.at + 1}`);
      }
    });
  }

  it("if one bit of a field's name is flipped, in any line", async () => {
    const damage = fc.record({ which: fc.nat(), place: fc.nat(), at: fc.nat(), bit: fc.nat(6) });
    await fc.assert(
      fc.asyncProperty(damage, async ({ which, place, at, bit }) => {
        const sound = SOUND[which % SOUND.length] as Sound;
        const places = fieldsOf(sound, () => true);
        const chosen = places[place % places.length] ?? assert.fail();
        const codes = Buffer.from(chosen.field);
        codes.writeUInt8(codes.readUInt8(at % codes.length) ^ (1 << bit), at % codes.length);
        await assertInconclusive(
          renamed(sound.lines, chosen, codes.toString("latin1")),
          `${sound.name}, line ${chosen.at + 1}: ${chosen.field} became ${codes}`,
        );
      }),
      { numRuns: 300 },
    );
  });
});

describe("a history without counts of fields", () => {
  const uncounted = ({ lines }: Sound) =>
    lines.map((line) => Object.fromEntries(Object.entries(line).filter(([field]) => field !== "fields")));

  it("is read like one with counts", async () => {
    for (const sound of SOUND) {
      const text = uncounted(sound).map((line) => JSON.stringify(line));
      const { verdict, findings } = await checkHistory([text.join("\n")]);
      assert.equal(verdict, "safe", `${sound.name}: ${findings[0]?.sentence}`);
    }
  });

  it("doubts an order if the idempotency key or the order number of its purchase may be missing", async () => {
    const names = ["clean-repeated-key.ndjson", "clean-rows-that-do-not-name-their-purchase.ndjson"];
    for (const sound of SOUND.filter(({ name }) => names.includes(name))) {
      const lines = uncounted(sound);
      for (const place of fieldsOf({ ...sound, lines }, () => true)) {
        const { verdict, findings } = await checkHistory([renamed(lines, place, null)]);
        assert.notEqual(verdict, "unsafe", `${sound.name} without ${place.field}: ${findings[0]?.sentence}`);
      }
    }
  });
});
