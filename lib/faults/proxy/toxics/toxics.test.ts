import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { FakeClock } from "../../../locks/testing/fake-clock";
import { toxicKinds } from "../all-toxics";
import { ChunkQueue } from "../chunk-queue";
import { Stage } from "../stage";
import type { Attributes, Toxic } from "../toxic";

/** One direction of one connection with one toxic, on a fake clock. */
function stageWith(type: string, attributes: Attributes, { toxicity = 1, random = (): number => 0.5 } = {}) {
  const kind = toxicKinds.get(type);
  assert.ok(kind, `there is no toxic ${type}`);
  const clock = new FakeClock();
  const toxic: Toxic = {
    name: type,
    kind,
    stream: "upstream",
    toxicity,
    attributes: { ...kind.defaults, ...attributes },
    effect: { bytes: 0, connections: 0, ended: 0 },
  };
  const input = new ChunkQueue(kind.bufferBytes);
  const output = new ChunkQueue();
  const resets: number[] = [];
  const reset = () => resets.push(clock.nowMs());
  const stage = new Stage({
    clock,
    random: { fraction: random, hex: () => "" },
    toxic,
    input,
    output,
    connection: {},
    reset,
  });
  const send = (text: string) => input.push({ data: Buffer.from(text), atMs: clock.nowMs() });
  const received: string[] = [];
  const receive = () => {
    while (output.first) received.push(output.take(Infinity).data.toString());
    return received;
  };
  return { clock, toxic, input, output, stage, send, receive, resets };
}

const KB = "x".repeat(1_000);

describe("latency", () => {
  it("delays each chunk from its arrival, so that the delay does not limit the throughput", async () => {
    const { clock, send, receive } = stageWith("latency", { latency: 100 });
    send("a");
    await clock.advance(60);
    send("b");
    await clock.advance(39);
    assert.deepEqual(receive(), []);
    await clock.advance(1);
    assert.deepEqual(receive(), ["a"]);
    await clock.advance(59);
    assert.deepEqual(receive(), ["a"]);
    await clock.advance(1);
    assert.deepEqual(receive(), ["a", "b"]);
  });

  it("varies the delay by the jitter in both directions and keeps the order", async () => {
    const fractions = [0, 1, 0.5];
    const { clock, send, receive } = stageWith(
      "latency",
      { latency: 100, jitter: 40 },
      { random: () => fractions.shift() ?? 0.5 },
    );
    // The first fraction decides whether the toxic acts on this connection.
    send("late");
    send("next");
    await clock.advance(139);
    assert.deepEqual(receive(), []);
    await clock.advance(1);
    assert.deepEqual(receive(), ["late", "next"]);
  });

  it("delays the end of the stream no further than the data before it", async () => {
    const { clock, send, input, output, receive } = stageWith("latency", { latency: 100 });
    send("a");
    input.finish("half");
    await clock.advance(99);
    assert.equal(output.end, null);
    await clock.advance(1);
    assert.deepEqual([receive(), output.end], [["a"], "half"]);
  });
});

describe("bandwidth", () => {
  it("takes one second for as many kilobytes as its rate", async () => {
    const { clock, send, receive } = stageWith("bandwidth", { rate: 10 });
    for (let sent = 0; sent < 10; sent += 1) send(KB);
    await clock.advance(990);
    assert.ok(receive().join("").length < 10_000, `expected less than 10 KB, found ${receive().join("").length} bytes`);
    await clock.advance(10);
    assert.equal(receive().join("").length, 10_000);
  });

  it("passes a large chunk in pieces of a tenth of a second", async () => {
    const { clock, send, receive } = stageWith("bandwidth", { rate: 1 });
    send(KB);
    await clock.advance(100);
    assert.deepEqual(
      receive().map((text) => text.length),
      [100],
    );
    await clock.advance(900);
    assert.equal(receive().join(""), KB);
  });

  it("lets nothing through at rate 0, and everything after an update", async () => {
    const { clock, send, receive, toxic, stage } = stageWith("bandwidth", { rate: 0 });
    send("a");
    await clock.advance(60_000);
    assert.deepEqual(receive(), []);
    toxic.attributes = { rate: 1_000 };
    stage.restart();
    await clock.advance(1);
    assert.deepEqual(receive(), ["a"]);
  });
});

describe("slow_close", () => {
  it("passes data at once and the end after the delay", async () => {
    const { clock, send, input, output, receive } = stageWith("slow_close", { delay: 500 });
    send("a");
    input.finish("half");
    await clock.advance(499);
    assert.deepEqual([receive(), output.end], [["a"], null]);
    await clock.advance(1);
    assert.equal(output.end, "half");
  });
});

describe("timeout", () => {
  it("discards data and closes after the limit without data", async () => {
    const { clock, send, output, receive, toxic } = stageWith("timeout", { timeout: 100 });
    await clock.advance(60);
    send("lost");
    await clock.advance(99);
    assert.equal(output.end, null);
    await clock.advance(1);
    assert.deepEqual([receive(), output.end], [[], "closed"]);
    assert.deepEqual(toxic.effect, { bytes: 4, connections: 1, ended: 1 });
  });

  it("with 0 discards data and never closes", async () => {
    const { clock, send, output, receive, toxic } = stageWith("timeout", { timeout: 0 });
    send("lost");
    await clock.advance(3_600_000);
    assert.deepEqual([receive(), output.end, toxic.effect.bytes], [[], null, 4]);
  });
});

describe("reset_peer", () => {
  it("resets the connection the given time after its next data, which it does not pass on", async () => {
    const { clock, send, receive, resets } = stageWith("reset_peer", { timeout: 200 });
    await clock.advance(1_000);
    assert.deepEqual(resets, []);
    send("a");
    await clock.advance(199);
    assert.deepEqual(resets, []);
    await clock.advance(1);
    assert.deepEqual([resets, receive()], [[1_200], []]);
  });
});

describe("slicer", () => {
  it("cuts a chunk into pieces of the average size, give or take the variation", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 2_000 }),
        fc.integer({ min: 1, max: 200 }),
        fc.infiniteStream(fc.double({ min: 0, max: 0.999, noNaN: true })),
        async (length, average, fractions) => {
          const text = Array.from({ length }, (_, index) => String(index % 10)).join("");
          const variation = Math.floor(average / 2);
          const random = () => fractions.next().value;
          const { clock, send, input, receive } = stageWith(
            "slicer",
            { average_size: average, size_variation: variation },
            { random, toxicity: 2 },
          );
          send(text);
          for (let piece = 0; piece < length && input.first; piece += 1) await clock.advance(0);
          assert.equal(receive().join(""), text);
          const longest = Math.max(...receive().map((piece) => piece.length));
          assert.ok(longest <= average + variation, `expected at most ${average + variation} bytes, found ${longest}`);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("waits the delay, in microseconds, after each piece", async () => {
    const { clock, send, receive } = stageWith("slicer", { average_size: 1, delay: 10_000 });
    send("abcd");
    await clock.advance(0);
    assert.deepEqual(receive(), ["a"]);
    await clock.advance(20);
    assert.deepEqual(receive(), ["a", "b", "c"]);
  });

  it("loses and repeats no byte when it is updated between two pieces", async () => {
    const { clock, send, receive, stage, toxic } = stageWith("slicer", { average_size: 1, delay: 10_000 });
    send("abcdef");
    await clock.advance(15);
    toxic.attributes = { average_size: 100, size_variation: 0, delay: 0 };
    stage.restart();
    await clock.advance(1);
    assert.deepEqual(receive(), ["a", "b", "cdef"]);
  });
});

describe("limit_data", () => {
  it("passes exactly its number of bytes and then closes", async () => {
    const { clock, send, output, receive, toxic } = stageWith("limit_data", { bytes: 5 });
    send("abc");
    await clock.advance(0);
    assert.deepEqual([receive(), output.end], [["abc"], null]);
    send("defg");
    await clock.advance(0);
    assert.deepEqual([receive().join(""), output.end], ["abcde", "closed"]);
    assert.equal(toxic.effect.bytes, 5);
  });

  it("keeps its count when it is updated", async () => {
    const { clock, send, output, receive, toxic, stage } = stageWith("limit_data", { bytes: 10 });
    send("abc");
    await clock.advance(0);
    toxic.attributes = { bytes: 4 };
    stage.restart();
    send("def");
    await clock.advance(0);
    assert.deepEqual([receive().join(""), output.end], ["abcd", "closed"]);
  });
});

describe("every toxic", () => {
  it("passes all data unchanged on the connections that its toxicity spares, and counts none of it", async () => {
    for (const type of toxicKinds.keys()) {
      const { clock, send, input, output, receive, toxic } = stageWith(type, {}, { toxicity: 0.5, random: () => 0.5 });
      send("a");
      input.finish("half");
      await clock.advance(0);
      assert.deepEqual([receive(), output.end, toxic.effect.bytes], [["a"], "half", 0], type);
    }
  });

  it("stops reading while the next step is full", async () => {
    for (const type of [...toxicKinds.keys()].filter((known) => known !== "reset_peer")) {
      const sizes = {
        latency: 1,
        jitter: 0,
        rate: 1_000_000,
        average_size: 1_000,
        bytes: 1_000_000,
        timeout: 0,
        delay: 0,
      };
      const { clock, send, input, output } = stageWith(type, sizes);
      output.push({ data: Buffer.alloc(64 * 1024), atMs: 0 });
      send("a");
      await clock.advance(1_000);
      assert.equal(input.first?.data.toString(), "a", `expected ${type} to wait`);
      output.take(Infinity);
      await clock.advance(1_000);
      assert.equal(input.first, undefined, `expected ${type} to go on`);
    }
  });

  it("leaves no timer when it is stopped", async () => {
    for (const type of toxicKinds.keys()) {
      const { clock, send, stage } = stageWith(type, {
        latency: 1_000,
        delay: 1_000_000,
        timeout: 1_000,
        average_size: 1,
      });
      send("ab");
      await clock.advance(0);
      stage.stop();
      await clock.advance(0);
      assert.equal(clock.pendingTimers, 0, type);
    }
  });
});
