import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import { RENEW_EVERY_MS } from "./claim-renewer";
import { type Answer, type AnswerKind, answerOnce, type KeyedRequest, REPLAYED_HEADER } from "./idempotency";
import { isShopError } from "./shop-error";
import type { Reply } from "./testing/fake-postgres";
import { FakeTimers } from "./testing/fake-timers";
import { useFakes } from "./testing/use-fakes";

const CLAIM = /^INSERT INTO idempotency_keys/;
const READ = /^SELECT request_hash/;
const KEEP = /^UPDATE idempotency_keys SET status/;
const FREE = /^DELETE FROM idempotency_keys/;
const EXPIRE = /^UPDATE idempotency_keys SET claimed_until = now\(\)/;
const RENEW = /AS h \(user_id, route, key, claimed_by\)/;
const POLL = /LEFT JOIN idempotency_keys/;

const CLAIMED: Reply = [{ isTakenOver: false }];
const TAKEN_OVER: Reply = [{ isTakenOver: true }];
const SOLD: Answer = { status: 201, headers: { "x-store-node": "node-1" }, body: '{"order":{"id":"7"}}' };
const SOLD_OUT: Answer = { status: 409, headers: {}, body: '{"error":{"code":"sold_out"}}' };

function makeRequest(change: Partial<KeyedRequest> = {}): KeyedRequest {
  const request = { userId: "buyer", route: "products/1/reduce-stock", key: randomUUID() };
  return { ...request, content: { quantity: 1 }, waitMs: 60_000, ...change };
}

/** Work that gives `answer`, and counts how often it was called. */
function makeWork(answer: Answer, kind: AnswerKind = "final") {
  const calls = { work: 0, findEarlierAnswer: 0 };
  return {
    calls,
    earlier: null as Answer | null,
    async work() {
      calls.work += 1;
      return answer;
    },
    async findEarlierAnswer() {
      calls.findEarlierAnswer += 1;
      return this.earlier;
    },
    kindOf: () => kind,
  };
}

function isRejectedWith(code: string) {
  return (error: unknown) => isShopError(error) && error.options.code === code;
}

describe("answerOnce", () => {
  const fakes = useFakes();

  /** The row of a key that was claimed by another request with the same content. */
  function scriptRow(row: { status: number | null; headers?: object; body?: string | null }): void {
    let hash: unknown;
    fakes.postgres.script(CLAIM, (values) => {
      hash = values[3];
      return [];
    });
    fakes.postgres.script(READ, () => [{ hash, headers: {}, body: null, ...row }]);
  }

  it("works once and keeps the final answer under buyer, route and key", async () => {
    fakes.postgres.script(CLAIM, CLAIMED).script(KEEP, [{}]);
    const request = makeRequest();
    const work = makeWork(SOLD);
    assert.deepEqual(await answerOnce(request, work), SOLD);
    assert.deepEqual(work.calls, { work: 1, findEarlierAnswer: 0 });
    const [claimed] = fakes.postgres.sent(CLAIM);
    const [kept] = fakes.postgres.sent(KEEP);
    assert.deepEqual(claimed?.slice(0, 3), [request.userId, request.route, request.key]);
    const claimId = claimed?.[4];
    const stored = [SOLD.status, JSON.stringify(SOLD.headers), SOLD.body];
    assert.deepEqual(kept, [request.userId, request.route, request.key, claimId, ...stored]);
  });

  it("gives two concurrent requests on one node one answer, and claims the key once", async () => {
    fakes.postgres.script(CLAIM, CLAIMED).script(KEEP, [{}]);
    const request = makeRequest();
    const work = makeWork(SOLD);
    const [first, second] = await Promise.all([answerOnce(request, work), answerOnce(request, work)]);
    assert.equal(work.calls.work, 1);
    assert.deepEqual(first, SOLD);
    assert.deepEqual(second, { ...SOLD, headers: { ...SOLD.headers, [REPLAYED_HEADER]: "true" } });
    assert.equal(fakes.postgres.sent(CLAIM).length, 1);
  });

  it("fails a concurrent request as the first one fails, and lets a later one try", async () => {
    fakes.postgres.script(CLAIM, CLAIMED).script(EXPIRE, []).script(KEEP, [{}]);
    const request = makeRequest();
    const failing = { ...makeWork(SOLD), work: () => Promise.reject(new Error("the node ran out of memory")) };
    const outcomes = await Promise.allSettled([answerOnce(request, failing), answerOnce(request, failing)]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["rejected", "rejected"],
    );
    assert.equal(fakes.postgres.sent(EXPIRE).length, 1);
    assert.deepEqual(await answerOnce(request, makeWork(SOLD)), SOLD);
  });

  it("replays a kept answer, refusals included, without working", async () => {
    for (const answer of [SOLD, SOLD_OUT]) {
      scriptRow(answer);
      const work = makeWork(SOLD);
      const replay = await answerOnce(makeRequest(), work);
      assert.deepEqual(replay, { ...answer, headers: { ...answer.headers, [REPLAYED_HEADER]: "true" } });
      assert.deepEqual(work.calls, { work: 0, findEarlierAnswer: 0 });
    }
  });

  it("waits for a first request that still runs on another node, then replays its answer", async () => {
    scriptRow({ status: null });
    const request = makeRequest();
    fakes.postgres.script(POLL, ([users, routes, keys]) => {
      scriptRow(SOLD);
      const at = (column: unknown) => (column as string[])[0];
      return [{ user_id: at(users), route: at(routes), key: at(keys) }];
    });
    const work = makeWork(SOLD_OUT);
    const answer = await answerOnce(request, work);
    assert.deepEqual([answer.status, answer.headers[REPLAYED_HEADER], work.calls.work], [201, "true", 0]);
  });

  it("rejects with idempotency_in_progress if the first request runs longer than the wait", async () => {
    scriptRow({ status: null });
    const work = makeWork(SOLD);
    const isRejected = isRejectedWith("idempotency_in_progress");
    await assert.rejects(answerOnce(makeRequest({ waitMs: 0 }), work), isRejected);
    assert.equal(work.calls.work, 0);
  });

  it("rejects a kept key that comes with another body", async () => {
    fakes.postgres.script(CLAIM, []).script(READ, [{ hash: "of another body", status: 201, headers: {}, body: "" }]);
    const work = makeWork(SOLD);
    await assert.rejects(answerOnce(makeRequest(), work), isRejectedWith("idempotency_mismatch"));
    assert.equal(work.calls.work, 0);
  });

  it("rejects a running key that comes with another body on the same node", async () => {
    fakes.postgres.script(CLAIM, CLAIMED).script(KEEP, [{}]);
    const request = makeRequest();
    const first = answerOnce(request, makeWork(SOLD));
    const second = answerOnce({ ...request, content: { quantity: 2 } }, makeWork(SOLD));
    await assert.rejects(second, isRejectedWith("idempotency_mismatch"));
    assert.deepEqual(await first, SOLD);
  });

  it("frees the key after a retryable answer instead of keeping it", async () => {
    fakes.postgres.script(CLAIM, CLAIMED).script(FREE, []);
    const answer = { status: 503, headers: {}, body: "contended" };
    assert.deepEqual(await answerOnce(makeRequest(), makeWork(answer, "retryable")), answer);
    assert.deepEqual([fakes.postgres.sent(FREE).length, fakes.postgres.sent(KEEP).length], [1, 0]);
  });

  it("expires the claim if the outcome is unknown, so that the next request looks for the order", async () => {
    fakes.postgres.script(CLAIM, CLAIMED, TAKEN_OVER).script(EXPIRE, []).script(KEEP, [{}]);
    const request = makeRequest();
    await answerOnce(request, makeWork({ status: 504, headers: {}, body: "" }, "unknown"));
    assert.deepEqual([fakes.postgres.sent(EXPIRE).length, fakes.postgres.sent(KEEP).length], [1, 0]);
    const retry = makeWork(SOLD_OUT);
    retry.earlier = SOLD;
    assert.deepEqual(await answerOnce(request, retry), SOLD);
    assert.deepEqual(retry.calls, { work: 0, findEarlierAnswer: 1 });
    assert.equal(fakes.postgres.sent(KEEP)[0]?.[4], 201);
  });

  it("works if it took over a claim and the earlier request created no order", async () => {
    fakes.postgres.script(CLAIM, TAKEN_OVER).script(KEEP, [{}]);
    const work = makeWork(SOLD);
    assert.deepEqual(await answerOnce(makeRequest(), work), SOLD);
    assert.deepEqual(work.calls, { work: 1, findEarlierAnswer: 1 });
  });

  it("returns the other request's answer if that one took the claim over during the work", async () => {
    const request = makeRequest();
    fakes.postgres.script(POLL, [{ user_id: request.userId, route: request.route, key: request.key }]);
    fakes.postgres.script(CLAIM, CLAIMED).script(KEEP, () => {
      scriptRow(SOLD);
      return [];
    });
    const answer = await answerOnce(request, makeWork(SOLD_OUT));
    assert.deepEqual([answer.status, answer.headers[REPLAYED_HEADER]], [201, "true"]);
  });

  it("renews its claim while it works, and not afterwards", async () => {
    using timers = new FakeTimers();
    fakes.postgres.script(CLAIM, CLAIMED).script(KEEP, [{}]).script(RENEW, []);
    const request = makeRequest();
    const longWork = async () => {
      timers.advance(2 * RENEW_EVERY_MS);
      return SOLD;
    };
    await answerOnce(request, { ...makeWork(SOLD), work: longWork });
    timers.advance(2 * RENEW_EVERY_MS);
    const claimId = fakes.postgres.sent(CLAIM)[0]?.[4];
    const renewed = [[request.userId], [request.route], [request.key], [claimId]];
    assert.deepEqual(fakes.postgres.sent(RENEW), [renewed, renewed]);
  });

  it("gives the answer even if it cannot be kept, and logs that", async () => {
    fakes.postgres.script(CLAIM, CLAIMED).script(KEEP, new Error("connection lost"));
    assert.deepEqual(await answerOnce(makeRequest(), makeWork(SOLD)), SOLD);
    assert.deepEqual(fakes.warnings, ["could not store the answer of an idempotency key"]);
  });

  it("fails as backend_unavailable, without working, if the claim cannot be written", async () => {
    fakes.postgres.script(CLAIM, new Error("connection refused"));
    const work = makeWork(SOLD);
    const unavailable = { code: "backend_unavailable", isDefinite: true };
    await assert.rejects(answerOnce(makeRequest(), work), unavailable);
    assert.equal(work.calls.work, 0);
  });
});
