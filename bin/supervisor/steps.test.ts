import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatStep, StepPrinter } from "./print";
import { MissingError, StepList } from "./steps";

const listing = () => {
  const list = new StepList(() => undefined);
  const summary = () => list.steps.map(({ name, status, detail }) => `${name} ${status} ${detail}`.trim());
  return { list, summary };
};

describe("the steps of a start", () => {
  it("keep the order in which they ended, running ones last", async () => {
    const { list, summary } = listing();
    let endSlow = (_result: { detail: string }) => {};
    const slow = list.run("slow", () => new Promise<{ detail: string }>((resolve) => (endSlow = resolve)));
    await list.run("quick", async () => ({ detail: "here" }));
    assert.deepEqual(summary(), ["quick done here", "slow running"]);
    endSlow({ detail: "here too" });
    await slow;
    assert.deepEqual(summary(), ["quick done here", "slow done here too"]);
  });

  it("go on without what is missing, and say the reason and the fix", async () => {
    const { list, summary } = listing();
    const missing = async () => Promise.reject(new MissingError({ reason: "not installed", fix: "fix: apt-get" }));
    assert.equal(await list.run("etcd", missing), null);
    assert.deepEqual(summary(), ["etcd missing not installed; fix: apt-get"]);
  });

  it("stop at what failed", async () => {
    const { list, summary } = listing();
    await assert.rejects(
      list.run("build", async () => Promise.reject(new Error("syntax"))),
      /syntax/,
    );
    assert.deepEqual(summary(), ["build failed syntax"]);
  });
});

describe("the lines of a start", () => {
  const done = { name: "Redis", status: "done", detail: "7.0.15", durationMs: 234 } as const;
  const running = { name: "build", status: "running", detail: "", durationMs: 0 } as const;
  const print = (isTTY: boolean, shows: (typeof done | typeof running)[][]) => {
    let text = "";
    const printer = new StepPrinter({ isTTY, columns: 40, write: (chunk) => (text += chunk) });
    for (const steps of shows) printer.show(steps);
    printer.clear();
    return text;
  };

  it("are one per step, with its time, and plain where the output is no terminal", () => {
    assert.equal(print(false, [[running], [done, running], [done]]), "✓ Redis             7.0.15 (0.2 s)\n");
  });

  it("show what is under way in a terminal, and take it away again", () => {
    const text = print(true, [[done, running]]);
    assert.ok(text.includes("… build"));
    assert.ok(text.endsWith("\r\u001b[K"));
  });

  it("keep a long reason readable", () => {
    const line = formatStep({ name: "build", status: "failed", detail: "a\nb\n", durationMs: 1 }, false);
    assert.equal(line, "✗ build             a\n    b (0.0 s)");
  });
});
