import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { classOf, NOT_SENT, pauseBefore, type ShopAnswer } from "./answer";
import { answerOf } from "./call-shop";
import { type IdempotentRequest, newIdempotencyKey, type RequestState, sendWithRetries } from "./idempotent-request";
import { answerText, nextStepText } from "./shop-text";

const REQUEST: IdempotentRequest = { key: "key-1", path: "/api/products/1/reduce-stock", body: { quantity: 1 } };

function answer(status: number, code: string, change: Partial<ShopAnswer> = {}): ShopAnswer {
  return { ...NOT_SENT, status, code, message: `code ${code}`, ...change };
}

const SOLD = answer(201, "ok");
const NO_RESPONSE = answer(0, "unreachable");

/** Runs `sendWithRetries` against scripted responses, in virtual time. */
async function follow(script: readonly ShopAnswer[], abortAfter = Number.POSITIVE_INFINITY) {
  const shown: RequestState[] = [];
  const keys: string[] = [];
  const pauses: number[] = [];
  let identifications = 0;
  let nowMs = 0;
  const controller = new AbortController();
  await sendWithRetries(REQUEST, {
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
      identifications += 1;
    },
    show: (requestState) => shown.push(requestState),
    nowEpochMs: () => nowMs,
    signal: controller.signal,
  });
  return { shown, keys, pauses, identifications, last: shown.at(-1) };
}

describe("sendWithRetries", () => {
  it("settles on the first definite response", async () => {
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

  it("retries with the same key after an unknown outcome until a definite response", async () => {
    const { last, keys } = await follow([
      NO_RESPONSE,
      answer(504, "outcome_unknown"),
      answer(409, "idempotency_in_progress"),
      SOLD,
    ]);
    assert.equal(last?.phase, "settled");
    assert.deepEqual(new Set(keys), new Set(["key-1"]));
    assert.equal(keys.length, 4);
  });

  it("waits for Retry-After, else with exponential backoff", async () => {
    const { pauses } = await follow([
      answer(503, "contended", { retryAfterMs: 3_000 }),
      answer(503, "overloaded"),
      NO_RESPONSE,
      SOLD,
    ]);
    assert.deepEqual(pauses, [3_000, 1_000, 2_000]);
  });

  it("stops retrying after a limited number of attempts", async () => {
    for (const code of ["contended", "rate_limited", "unreachable"]) {
      const status = code === "unreachable" ? 0 : 503;
      const { last, keys } = await follow(Array.from({ length: 50 }, () => answer(status, code)));
      assert.equal(last?.phase, "given_up", code);
      assert.ok(keys.length <= 10, `expected at most 10 attempts, found ${keys.length}`);
    }
  });

  it("waits without limit while offline", async () => {
    const { last, keys } = await follow([...Array.from({ length: 30 }, () => NOT_SENT), SOLD]);
    assert.deepEqual([last?.phase, keys.length], ["settled", 31]);
  });

  it("keeps the unknown outcome of an earlier attempt when a later one sends nothing", async () => {
    const { shown } = await follow([NO_RESPONSE, NOT_SENT, SOLD]);
    const doubts = shown.filter(({ phase }) => phase === "waiting");
    assert.equal(doubts.length, 2);
    for (const { last } of doubts as { last: ShopAnswer }[]) assert.equal(classOf(last), "unknown");
  });

  it("gets a buyer id when the shop does not recognize the buyer, and gives up after a second rejection", async () => {
    const identified = await follow([answer(403, "buyer_mismatch"), SOLD]);
    assert.deepEqual([identified.identifications, identified.last?.phase], [1, "settled"]);
    const unidentified = await follow(Array.from({ length: 9 }, () => answer(401, "buyer_required")));
    assert.deepEqual([unidentified.last?.phase, unidentified.keys.length], ["given_up", 2]);
  });

  it("shows no further state after an abort", async () => {
    const { shown } = await follow([NO_RESPONSE, NO_RESPONSE, NO_RESPONSE], 1);
    assert.deepEqual(shown.at(-1)?.phase, "sending");
  });

  it("says that no stock was reserved after a rejection, but not after an unknown outcome", async () => {
    const { shown } = await follow([answer(503, "contended"), NO_RESPONSE, SOLD]);
    const texts = shown
      .filter(({ phase }) => phase === "waiting")
      .map((requestState) => answerText((requestState as { last: ShopAnswer }).last));
    assert.match(texts[0] ?? "", /No stock was reserved/);
    assert.match(texts[1] ?? "", /may have gone through/);
    assert.doesNotMatch(texts[1] ?? "", /No stock was reserved/);
    const waiting = shown.findLast(({ phase }) => phase === "waiting");
    assert.match(waiting ? nextStepText(waiting, 2) : "", /same idempotency key in 2 s/);
  });
});

describe("class of a response", () => {
  it("is unknown for a failure unless its code means that nothing changed", () => {
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

  it("limits the backoff to eight seconds", () => {
    for (let tries = 1; tries < 60; tries += 1) assert.ok((pauseBefore(NO_RESPONSE, tries) ?? 0) <= 8_000);
  });

  it("reads headers and body, and prefers the exact retry delay", () => {
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

  it("creates distinct keys that are valid header values", () => {
    const keys = new Set(Array.from({ length: 100 }, newIdempotencyKey));
    assert.equal(keys.size, 100);
    for (const key of keys) assert.match(key, /^[0-9a-f]{32}$/);
  });
});
