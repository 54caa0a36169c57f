import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ServerProxy } from "../../lib/faults/run-proxies";
import { recordingOf } from "./recording";
import type { Seen } from "./tap";

const REDIS = { server: "redis" } as ServerProxy;
const REDLOCK = [1, 2, 3].map(() => ({ server: "redlock" }) as ServerProxy);

/** A command and its reply, one microsecond after it. */
function exchange(atNs: bigint, text: string, reply: string): Seen[] {
  return exchangeWith(REDIS, { atNs, text, reply });
}

function exchangeWith(
  proxy: ServerProxy,
  { atNs, text, reply }: { readonly atNs: bigint; readonly text: string; readonly reply: string },
): Seen[] {
  const [name = ""] = text.split(" ");
  const command = { name, text, changes: true, reply };
  return [
    { kind: "sent", command, atNs, proxy },
    { kind: "reply", command, atNs: atNs + 1_000n, proxy },
  ];
}

function recorded(a: readonly Seen[], b: readonly Seen[] = []) {
  return recordingOf({ seen: { A: a, B: b }, bought: [], stock: { before: 2, after: 1 } }).steps;
}

const shown = (steps: ReturnType<typeof recorded>) =>
  steps.map((step) =>
    step.kind === "notice" ? step.text : [step.buyer, step.text, step.reply, step.times, step.servers].join(" "),
  );

describe("a recording", () => {
  it("shows both buyers in one order, with the place of each reply", () => {
    const steps = recorded(exchange(10n, "SET k", "OK"), exchange(20n, "SET k", "nil"));
    assert.deepEqual(
      steps.map((step) => (step.kind === "command" ? [step.buyer, step.at, step.answeredAt] : [])),
      [
        ["A", 0, 2],
        ["B", 1, 3],
      ],
    );
  });

  it("counts equal attempts in a row, but keeps the attempt that gets another reply", () => {
    const attempts = [0n, 1n, 2n].flatMap((at) => exchange(at * 10_000n, `SETNX k ${at}`, "0"));
    const steps = recorded([...attempts, ...exchange(90_000n, "SETNX k 3", "1")]);
    assert.deepEqual(shown(steps), ["A SETNX k 0 0 3 ", "A SETNX k 3 1  "]);
  });

  it("counts attempts of several commands", () => {
    const attempt = (at: bigint) => [...exchange(at, "WATCH k", "OK"), ...exchange(at + 5_000n, "EXEC", "nil")];
    assert.deepEqual(shown(recorded([...attempt(0n), ...attempt(10_000n)])), ["A WATCH k OK 2 ", "A EXEC nil 2 "]);
  });

  it("shows a command that goes to several servers once, with all replies", () => {
    const replies = ["OK", "OK", "nil"];
    const steps = recorded(
      REDLOCK.flatMap((proxy, index) => exchangeWith(proxy, { atNs: 5n, text: "SET k", reply: replies[index] ?? "" })),
    );
    assert.deepEqual(shown(steps), ["A SET k 2 × OK, 1 × nil  3"]);
  });

  it("keeps a command without a reply", () => {
    const [sent] = exchange(0n, "SET k", "OK");
    assert.ok(sent);
    const [step] = recorded([sent]);
    assert.ok(step?.kind === "command" && step.reply === null && step.answeredAt === null);
  });
});
