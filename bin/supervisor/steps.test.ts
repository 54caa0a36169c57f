import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatStep, StepPrinter } from "./print";
import { MissingError, StepList } from "./steps";

const listing = () => {
  const list = new StepList(() => undefined);
  const summary = () => list.steps.map(({ name, status, detail }) => `${name} ${status} ${detail}`.trim());
  return { list, summary };
};

describe("StepList", () => {
  it("keeps steps in the order in which they finished, running steps last", async () => {
    const { list, summary } = listing();
    let endSlow = (_result: { detail: string }) => {};
    const slow = list.run("slow", () => new Promise<{ detail: string }>((resolve) => (endSlow = resolve)));
    await list.run("quick", async () => ({ detail: "here" }));
    assert.deepEqual(summary(), ["quick done here", "slow running"]);
    endSlow({ detail: "here too" });
    await slow;
    assert.deepEqual(summary(), ["quick done here", "slow done here too"]);
  });

  it("continues after a missing server and records the reason and the fix", async () => {
    const { list, summary } = listing();
    const missing = async () => Promise.reject(new MissingError({ reason: "not installed", fix: "fix: apt-get" }));
    assert.equal(await list.run("etcd", missing), null);
    assert.deepEqual(summary(), ["etcd missing not installed; fix: apt-get"]);
  });

  it("records a failed step and rethrows its error", async () => {
    const { list, summary } = listing();
    await assert.rejects(
      list.run("build", async () => Promise.reject(new Error("syntax"))),
      /syntax/,
    );
    assert.deepEqual(summary(), ["build failed syntax"]);
  });
});

describe("StepPrinter", () => {
  const done = { name: "Redis", status: "done", detail: "7.0.15", durationMs: 234 } as const;
  const running = { name: "build", status: "running", detail: "", durationMs: 0 } as const;
  const print = (isTTY: boolean, shows: (typeof done | typeof running)[][]) => {
    let text = "";
    const printer = new StepPrinter({ isTTY, columns: 40, write: (chunk) => (text += chunk) });
    for (const steps of shows) printer.show(steps);
    printer.clear();
    return text;
  };

  it("prints one plain line per step, with its time, if the output is not a terminal", () => {
    assert.equal(print(false, [[running], [done, running], [done]]), "✓ Redis             7.0.15 (0.2 s)\n");
  });

  it("shows running steps in a terminal and erases them again", () => {
    const text = print(true, [[done, running]]);
    assert.ok(text.includes("… build"));
    assert.ok(text.endsWith("\r\u001b[K"));
  });

  it("shows control sequences of a server's answer escaped", () => {
    const evil = { ...done, name: "Redis\u001b[2J", detail: "7.0\u001b]0;title\u0007\u009b31m" };
    for (const useColour of [false, true]) {
      const line = formatStep(evil, useColour).replace("\u001b[32m✓\u001b[0m", "✓");
      assert.equal(line, "✓ Redis\\u001b[2J    7.0\\u001b]0;title\\u0007\\u009b31m (0.2 s)");
    }
    const written: string[] = [];
    const printer = new StepPrinter({ isTTY: true, columns: 100, write: (chunk) => written.push(chunk) });
    printer.note(evil.detail);
    printer.show([{ ...evil, status: "running" }]);
    assert.deepEqual(written, ["7.0\\u001b]0;title\\u0007\\u009b31m\n", "… Redis\\u001b[2J"]);
  });

  it("indents the lines of a long reason", () => {
    const line = formatStep({ name: "build", status: "failed", detail: "a\nb\n", durationMs: 1 }, false);
    assert.equal(line, "✗ build             a\n    b (0.0 s)");
  });
});
