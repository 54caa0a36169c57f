import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { stockStrategies, traitsOf } from "../stock/stock-strategies";
import { pgbouncerTransaction } from "./pgbouncer-transaction";

const RUN = { ttlMs: 5_000, nodes: 3, fencing: true };

describe("pgbouncer-transaction", () => {
  it("applies to the strategies whose lock is in PostgreSQL", () => {
    for (const { traits } of stockStrategies.values()) {
      const why = pgbouncerTransaction.whyNotApplicable({ ...RUN, traits });
      assert.equal(why === null, traits.family === "sql", `${traits.id}: ${why}`);
    }
  });

  it("makes sql-advisory unsafe if its lock belongs to the session", () => {
    const effect = () => pgbouncerTransaction.expectationOf({ ...RUN, traits: traitsOf("sql-advisory") }, 0).effect;
    assert.equal(effect(), "safe");
    process.env.SQL_ADVISORY = "session";
    try {
      assert.equal(effect(), "unsafe");
    } finally {
      delete process.env.SQL_ADVISORY;
    }
  });
});
