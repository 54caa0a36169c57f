import assert from "node:assert/strict";
import { createReadStream, readFileSync } from "node:fs";
import { describe, it } from "node:test";
import fc from "fast-check";
import { toKnossos } from "./export-knossos";
import { toPorcupine } from "./export-porcupine";
import { ExportError } from "./lock-uses";
import { parseHistory } from "./parse";
import { type OpFields, op } from "./testing/make-history";
import { simulateLockSale } from "./testing/simulation/lock-sale";
import { toNdjson } from "./testing/simulation/sale";

const EXAMPLES = new URL("../../docs/history-examples/", import.meta.url);

interface Exported {
  readonly clientId: number;
  readonly call: number;
  readonly return: number | null;
  readonly input: { readonly op: string; readonly holder: string };
}

const parsedOf = (...ops: ReturnType<typeof op>[]) => parseHistory(ops.map((line) => `${JSON.stringify(line)}\n`));
const hold = (fields: OpFields) => op({ waitNs: 0, grantedNs: 2, releasedNs: 5, answeredNs: 7, ...fields });
const porcupineOf = (parsed: Awaited<ReturnType<typeof parsedOf>>, host?: string) =>
  (JSON.parse(toPorcupine(parsed, host)) as { operations: Exported[] }).operations;

describe("the examples in docs", () => {
  for (const name of ["one-holder", "two-holders"]) {
    it(`match the export of ${name}.ndjson`, async () => {
      const parsed = await parseHistory(createReadStream(new URL(`${name}.ndjson`, EXAMPLES)));
      assert.equal(readFileSync(new URL(`${name}.porcupine.json`, EXAMPLES), "utf8"), toPorcupine(parsed));
      assert.equal(readFileSync(new URL(`${name}.knossos.edn`, EXAMPLES), "utf8"), toKnossos(parsed));
    });
  }
});

describe("the export for Porcupine", () => {
  it("places the acquire between wait and grant, and the release between release and answer", async () => {
    const parsed = await parsedOf(hold({ invokedNs: 0, holderId: "x", fencingToken: 7 }));
    assert.deepEqual(
      porcupineOf(parsed).map(({ call, return: end, input }) => [input.op, call, end, input.holder]),
      [
        ["acquire", 0, 2, "x"],
        ["release", 5, 7, "x"],
      ],
    );
  });

  it("has a null return if no release was recorded", async () => {
    const [, release] = porcupineOf(await parsedOf(hold({ releasedNs: undefined })));
    assert.equal(release?.return, null);
  });

  it("leaves out waiters without a grant, and fails if there is no grant", async () => {
    const waiter = op({ waitNs: 0, answeredNs: 9, outcome: "contended" });
    assert.equal(porcupineOf(await parsedOf(hold({}), waiter)).length, 2);
    const noGrant = await parsedOf(waiter);
    assert.throws(() => toPorcupine(noGrant), ExportError);
  });

  it("requires --host if the history has several hosts", async () => {
    const parsed = await parsedOf(hold({ host: "a" }), hold({ host: "b" }), hold({ host: "b" }));
    assert.throws(
      () => toPorcupine(parsed),
      /clocks of hosts a, b are not comparable\. Choose one with --host <name>\./,
    );
    assert.equal(porcupineOf(parsed, "b").length, 4);
    assert.throws(() => toPorcupine(parsed, "c"), /no operation of host c\. Its hosts are: a, b\./);
  });
});

interface Event {
  readonly process: string;
  readonly type: string;
  readonly f: string;
  readonly time: number;
}

const EDN =
  /^\{:index \d+, :process (?<process>\d+), :type (?<type>:\w+), :f (?<f>:\w+), :value nil, :time (?<time>\d+), :op-id "[^"]+", :node "[^"]+"\}$/;

function eventsOf(edn: string): Event[] {
  return edn
    .trimEnd()
    .split("\n")
    .map((line) => {
      const {
        process = "",
        type = "",
        f = "",
        time = "",
      } = EDN.exec(line)?.groups ?? assert.fail(`expected an EDN event, found: ${line}`);
      return { process, type, f, time: Number(time) };
    });
}

describe("the export for Knossos", () => {
  it("alternates acquire and release in each process, in order of time", async () => {
    const options = fc.record({
      seed: fc.nat(),
      buyers: fc.integer({ min: 2, max: 30 }),
      initial: fc.nat(20),
      hosts: fc.constant(1),
      fenced: fc.boolean(),
      failureRate: fc.constantFrom(0, 0.3),
      maxQuantity: fc.constant(1),
      scale: fc.constantFrom(1, 100),
    });
    await fc.assert(
      fc.asyncProperty(options, async (made) => {
        const parsed = await parseHistory([toNdjson(simulateLockSale(made))]);
        fc.pre(parsed.history.ops.some((line) => line.grantedNs !== undefined));
        const events = eventsOf(toKnossos(parsed));
        const last = new Map<string, Event>();
        let now = 0;
        for (const event of events) {
          const before = last.get(event.process);
          const isBeginning = event.type === ":invoke";
          assert.equal(
            before?.type === ":invoke",
            !isBeginning,
            "expected each call of a process to return before the next",
          );
          if (!isBeginning) assert.equal(event.f, before?.f);
          else if (before) assert.notEqual(event.f, before.f, "expected acquire and release to alternate");
          assert.ok(event.time >= now);
          now = event.time;
          last.set(event.process, event);
        }
        assert.equal(events.length, 2 * porcupineOf(parsed).length);
      }),
    );
  });

  it("ends an unrecorded release with :info and does not reuse its process", async () => {
    const dead = hold({ releasedNs: undefined, answeredNs: 5, outcome: "unknown" });
    const events = eventsOf(
      toKnossos(
        await parsedOf(dead, hold({ waitNs: 90, invokedNs: 90, grantedNs: 91, releasedNs: 95, answeredNs: 99 })),
      ),
    );
    assert.equal(events.filter(({ type }) => type === ":info").length, 1);
    assert.equal(new Set(events.map(({ process }) => process)).size, 2);
  });
});
