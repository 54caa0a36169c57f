import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commitReplyLost } from "./commit-reply-lost";
import { fakePostgresUnder, reply } from "./testing/fake-postgres";

describe("commit-reply-lost", () => {
  it("loses the reply to COMMIT, not the replies inside the transaction, once per node", async (t) => {
    const { open, end, executed } = await fakePostgresUnder(commitReplyLost, t);
    const [first, second] = [await open(), await open()];
    assert.match(await reply(first, "BEGIN ISOLATION LEVEL READ COMMITTED\0"), /^reply/);
    assert.match(await reply(first, "B\0product_writeAbsolute\0"), /^reply/);
    assert.equal(await reply(first, "COMMIT\0"), "ECONNRESET");
    assert.ok(executed.includes("COMMIT\0"), "expected the server to have executed COMMIT");
    assert.match(await reply(second, "COMMIT\0"), /^reply/);
    const { proof } = await end();
    assert.equal(proof, "commit-reply-lost acted on 1 connection to PostgreSQL (12 bytes) of node-1.");
  });

  it("loses the reply to a write that is no part of a transaction, and not the reply to a read", async (t) => {
    const { open, end, executed } = await fakePostgresUnder(commitReplyLost, t);
    const socket = await open();
    assert.match(await reply(socket, "B\0product_read\0"), /^reply/);
    assert.equal(await reply(socket, "B\0product_takeGuarded\0"), "ECONNRESET");
    assert.ok(executed.includes("B\0product_takeGuarded\0"));
    assert.match((await end()).proof, /1 connection to PostgreSQL/);
  });

  it("is missed if no purchase was committed", async (t) => {
    const { open, end } = await fakePostgresUnder(commitReplyLost, t);
    await open();
    await assert.rejects(end(), /^FaultMissed: no purchase was committed while it lasted/);
  });
});
