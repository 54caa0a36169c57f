import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { classOf, NOT_SENT, pauseBefore, type ShopAnswer } from "./answer";
import { answerOf } from "./call-shop";
import { type IdempotentRequest, newIdempotencyKey, type RequestState, sendWithRetries } from "./idempotent-request";
import { answerText, nextStepText } from "./shop-text";

const WANTED: IdempotentRequest = { key: "key-1", path: "/api/products/1/reduce-stock", body: { quantity: 1 } };

function answer(status: number, code: string, change: Partial<ShopAnswer> = {}): ShopAnswer {
  return { ...NOT_SENT, status, code, message: `code ${code}`, ...change };
}

const SOLD = answer(201, "ok");
const LOST = answer(0, "unreachable");

/** Sends what a script answers, in virtual time. */
async function follow(script: readonly ShopAnswer[], abortAfter = Number.POSITIVE_INFINITY) {
  const shown: RequestState[] = [];
  const keys: string[] = [];
  const pauses: number[] = [];
  let introductions = 0;
  let nowMs = 0;
  const controller = new AbortController();
  await sendWithRetries(WANTED, {
    send: async ({ key }) => {
      keys.push(key);
      if (keys.length > abortAfter) controller.abort();
      return script[keys.length - 1] ?? SOLD;
    },
    pause: async (ms) => {
      pauses.push(ms);
      nowMs += ms;
    },
    identify: async () => {
      introductions += 1;
    },
    show: (requestState) => shown.push(requestState),
    nowEpochMs: () => nowMs,
    signal: controller.signal,
  });
  return { shown, keys, pauses, introductions, last: shown.at(-1) };
}

describe("pursue", () => {
  it("settles at once on a definite answer", async () => {
    for (const definite of [
      SOLD,
      answer(409, "sold_out"),
      answer(409, "limit_reached"),
      answer(422, "idempotency_mismatch"),
    ]) {
      const { last, keys } = await follow([definite]);
      assert.deepEqual([last?.phase, keys.length], ["settled", 1], definite.code);
    }
  });

  it("repeats the same key until it knows, when an answer is lost", async () => {
    const { last, keys } = await follow([
      LOST,
      answer(504, "outcome_unknown"),
      answer(409, "idempotency_in_progress"),
      SOLD,
    ]);
    assert.equal(last?.phase, "settled");
    assert.deepEqual(new Set(keys), new Set(["key-1"]));
    assert.equal(keys.length, 4);
  });

  it("waits as long as it is told to, and longer each time where it is told nothing", async () => {
    const { pauses } = await follow([
      answer(503, "contended", { retryAfterMs: 3_000 }),
      answer(503, "overloaded"),
      LOST,
      SOLD,
    ]);
    assert.deepEqual(pauses, [3_000, 1_000, 2_000]);
  });

  it("leaves it to the buyer after a number of tries, whatever they met", async () => {
    for (const code of ["contended", "rate_limited", "unreachable"]) {
      const status = code === "unreachable" ? 0 : 503;
      const { last, keys } = await follow(Array.from({ length: 50 }, () => answer(status, code)));
      assert.equal(last?.phase, "given_up", code);
      assert.ok(keys.length <= 10, `${keys.length} tries`);
    }
  });

  it("waits for a network that is away, however long, and sends nothing meanwhile", async () => {
    const { last, keys } = await follow([...Array.from({ length: 30 }, () => NOT_SENT), SOLD]);
    assert.deepEqual([last?.phase, keys.length], ["settled", 31]);
  });

  it("does not take a try that sent nothing for an answer to the one before", async () => {
    const { shown } = await follow([LOST, NOT_SENT, SOLD]);
    const doubts = shown.filter(({ phase }) => phase === "waiting");
    assert.equal(doubts.length, 2);
    for (const { last } of doubts as { last: ShopAnswer }[]) assert.equal(classOf(last), "unknown");
  });

  it("introduces itself when the shop does not know it, and gives up when that does not help", async () => {
    const known = await follow([answer(403, "buyer_mismatch"), SOLD]);
    assert.deepEqual([known.introductions, known.last?.phase], [1, "settled"]);
    const stranger = await follow(Array.from({ length: 9 }, () => answer(401, "buyer_required")));
    assert.deepEqual([stranger.last?.phase, stranger.keys.length], ["given_up", 2]);
  });

  it("shows nothing more once nobody wants it", async () => {
    const { shown } = await follow([LOST, LOST, LOST], 1);
    assert.deepEqual(shown.at(-1)?.phase, "sending");
  });

  it("says of what is not known only that, and of what was refused that nothing was taken", async () => {
    const { shown } = await follow([answer(503, "contended"), LOST, SOLD]);
    const words = shown
      .filter(({ phase }) => phase === "waiting")
      .map((requestState) => answerText((requestState as { last: ShopAnswer }).last));
    assert.match(words[0] ?? "", /Nothing was taken/);
    assert.match(words[1] ?? "", /not known yet/);
    assert.doesNotMatch(words[1] ?? "", /Nothing was taken/);
    const waiting = shown.findLast(({ phase }) => phase === "waiting");
    assert.match(waiting ? nextStepText(waiting, 2) : "", /same key in 2 s/);
  });
});

describe("meaning of an answer", () => {
  it("calls a failure unknown unless the shop says that nothing was taken", () => {
    for (const [status, code] of [
      [500, "internal_error"],
      [502, "unexpected"],
      [504, "outcome_unknown"],
      [0, "no_answer"],
    ] as const) {
      assert.equal(classOf(answer(status, code)), "unknown", code);
    }
    for (const code of ["contended", "backend_unavailable", "shutting_down"])
      assert.equal(classOf(answer(503, code)), "retryable", code);
    assert.equal(classOf(answer(402, "payment_failed")), "rejected");
  });

  it("never waits without a bound", () => {
    for (let tries = 1; tries < 60; tries += 1) assert.ok((pauseBefore(LOST, tries) ?? 0) <= 8_000);
  });

  it("is read from headers and body, and the more exact wait is believed", () => {
    const headers = new Headers({
      "retry-after": "2",
      "x-store-node": "node-3",
      "x-lock-strategy": "redlock",
      "idempotent-replayed": "true",
    });
    const details = { retryAfterMs: 1_250 };
    const limited = answerOf({ status: 429, headers }, { error: { code: "rate_limited", message: "slow", details } });
    assert.deepEqual(
      [limited.code, limited.retryAfterMs, limited.node, limited.strategy, limited.isReplayed],
      ["rate_limited", 1_250, "node-3", "redlock", true],
    );
    assert.equal(answerOf({ status: 503, headers }, { error: { code: "contended" } }).retryAfterMs, 2_000);
    const foreign = answerOf({ status: 502, headers: new Headers() }, null);
    assert.deepEqual(
      [foreign.code, foreign.retryAfterMs, foreign.message],
      ["unexpected", null, "The shop answered 502."],
    );
  });

  it("gives every request a key of its own that a header can carry", () => {
    const keys = new Set(Array.from({ length: 100 }, newIdempotencyKey));
    assert.equal(keys.size, 100);
    for (const key of keys) assert.match(key, /^[0-9a-f]{32}$/);
  });
});
