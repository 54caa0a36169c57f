import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LockError, type LockErrorCode } from "../locks/errors";
import { LabError } from "../runs/lab-error";
import { ShopError } from "../shop/shop-error";
import { errorAnswer, withCode } from "./answer";
import { type ErrorCode, errorTable } from "./error-table";
import { HttpError, toHttpError } from "./errors";

const answerOf = (error: unknown) => errorAnswer(toHttpError(error, null));
const lockError = (code: LockErrorCode) =>
  new LockError({ code, strategyId: "redis-lock", resource: "product:7", message: "it failed", isDefinite: true });

describe("the error table", () => {
  it("gives every code its status, its message and its Retry-After", () => {
    for (const [code, row] of Object.entries(errorTable)) {
      const { status, headers, body, code: carried } = errorAnswer(new HttpError({ code: code as ErrorCode }));
      const { error } = JSON.parse(body) as { error: { code: string; message: string } };
      assert.deepEqual([status, error.code, error.message, carried], [row.status, code, row.message, code]);
      const retryAfter = "retryAfterSeconds" in row ? String(row.retryAfterSeconds) : undefined;
      assert.equal(headers["retry-after"], retryAfter, code);
    }
  });

  it("has a Retry-After for every 503", () => {
    for (const [code, row] of Object.entries(errorTable)) {
      if (row.status !== 503) continue;
      assert.ok("retryAfterSeconds" in row, code);
    }
  });
});

/** An error as PostgreSQL's server reports it. */
function serverError(sqlState: string): Error {
  return Object.assign(new Error(`SQL state of the ${sqlState[0]} class`), { severity: "FATAL", code: sqlState });
}

describe("a thrown error", () => {
  const cases: readonly (readonly [unknown, ErrorCode])[] = [
    [new ShopError({ code: "sold_out", message: "Sold out." }), "sold_out"],
    [new LabError("run_active", "A run is active."), "run_active"],
    [lockError("quorum_failed"), "backend_unavailable"],
    [new Error("wrapped", { cause: lockError("outcome_unknown") }), "outcome_unknown"],
    [Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), "backend_unavailable"],
    ...["57P01", "57P02", "57P03", "53300", "08006"].map((code) => [serverError(code), "backend_unavailable"] as const),
    [serverError("42601"), "internal_error"],
  ];
  for (const [error, code] of cases) {
    it(`${(error as Error).name} ${(error as { code?: string }).code ?? ""} becomes ${code}`, () => {
      assert.equal(answerOf(error).code, code);
    });
  }

  it("keeps its own message, details and Retry-After", () => {
    const error = new ShopError({ code: "not_open", message: "Later.", details: { in: 1 }, retryAfterSeconds: 7 });
    const { headers, body } = answerOf(error);
    assert.equal(headers["retry-after"], "7");
    assert.deepEqual(JSON.parse(body), { error: { code: "not_open", message: "Later.", details: { in: 1 } } });
  });

  it("has no Retry-After if a configuration is wrong", () => {
    assert.equal(answerOf(lockError("config_invalid")).headers["retry-after"], undefined);
    assert.equal(answerOf(lockError("backend_unavailable")).headers["retry-after"], "1");
  });
});

describe("an answer of another process", () => {
  it("has the code of its header, and none if the header is absent or unknown", () => {
    const codeOf = (headers: Record<string, string>) => withCode({ status: 503, headers, body: "" }).code;
    assert.equal(codeOf({ "x-error-code": "contended" }), "contended");
    assert.equal(codeOf({ "x-error-code": "constructor" }), null);
    assert.equal(codeOf({}), null);
  });
});
