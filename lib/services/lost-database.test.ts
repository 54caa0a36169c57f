import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isLostDatabase } from "./lost-database";

/** As `pg` throws it. */
const serverError = (code: string) => Object.assign(new Error("FATAL"), { severity: "FATAL", code });
/** As Prisma wraps what its adapter throws. */
const prismaError = (originalCode: string) =>
  Object.assign(new Error("Invalid `prisma.run.findMany()` invocation"), {
    code: "P2010",
    meta: { driverAdapterError: Object.assign(new Error("postgres"), { cause: { kind: "postgres", originalCode } }) },
  });

describe("isLostDatabase", () => {
  for (const code of ["57P01", "57P02", "57P03", "53300", "08000", "08006"]) {
    it(`is true for SQL state ${code}, also inside Prisma's error and as a cause`, () => {
      for (const make of [serverError, prismaError]) {
        assert.equal(isLostDatabase(make(code)), true);
        assert.equal(isLostDatabase(new Error("wrapped", { cause: make(code) })), true);
      }
    });
  }

  it("is true if PostgreSQL cannot be reached", () => {
    assert.equal(isLostDatabase(Object.assign(new Error("connect"), { code: "ECONNREFUSED" })), true);
    assert.equal(isLostDatabase(new Error("Connection terminated unexpectedly")), true);
    assert.equal(isLostDatabase(new Error("timeout exceeded when trying to connect")), true);
  });

  it("is false for a statement that PostgreSQL rejects, and for other errors", () => {
    for (const code of ["23505", "42601", "57014"]) {
      for (const make of [serverError, prismaError]) assert.equal(isLostDatabase(make(code)), false, code);
    }
    assert.equal(isLostDatabase(new Error("no such run")), false);
    assert.equal(isLostDatabase(null), false);
  });
});
