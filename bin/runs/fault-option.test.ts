import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FaultRequest } from "../../lib/faults/request";
import { addFault } from "./fault-option";

const parse = (...texts: string[]) => texts.reduce<readonly FaultRequest[]>((all, text) => addFault(text, all), []);

describe("--fault", () => {
  it("takes an id, a time, a duration, a node and a server, and can be repeated", () => {
    assert.deepEqual(parse("pause-holder", "pause-holder@500", "down+2500/redis", "down@0+3000:node-2/postgres"), [
      { id: "pause-holder" },
      { id: "pause-holder", atMs: 500 },
      { id: "down", durationMs: 2_500, server: "redis" },
      { id: "down", atMs: 0, durationMs: 3_000, node: "node-2", server: "postgres" },
    ]);
  });

  it("says what is valid", () => {
    assert.throws(
      () => parse("pause"),
      /id\[@atMs\]\[\+durationMs\]\[:node\]\[\/server\], where id is one of pause-holder/,
    );
    assert.throws(() => parse("pause-holder@soon"), /where id is one of pause-holder/);
    assert.throws(() => parse("pause-holder+99"), /durationMs: /);
    assert.throws(() => parse("pause-holder@999999"), /atMs: /);
    assert.throws(() => parse(...Array<string>(5).fill("pause-holder")), /at most 4 faults/);
  });
});
