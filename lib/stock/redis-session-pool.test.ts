import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RedisSession } from "../locks/redis/redis-port";
import { RedisSessionPool } from "./redis-session-pool";

const LONG = { limitMs: 10_000 };

function setUp(size: number) {
  const opened: (RedisSession & { isLost: boolean })[] = [];
  const pool = new RedisSessionPool(() => {
    const session = {
      isLost: false,
      call: async () => null,
      close: () => {
        session.isLost = true;
      },
    };
    opened.push(session);
    return session;
  }, size);
  const borrow = async () => (await pool.borrow(LONG)) ?? assert.fail("no session");
  return { pool, opened, borrow };
}

describe("pool of Redis sessions", () => {
  it("lends each session to one at a time, and keeps it for the next", async () => {
    const { pool, opened, borrow } = setUp(2);
    const [first, second] = [await borrow(), await borrow()];
    assert.notEqual(first, second);
    pool.giveBack(first);
    assert.equal(await borrow(), first);
    assert.equal(opened.length, 2);
  });

  it("lets those who find none wait, first come first served", async () => {
    const { pool, borrow } = setUp(1);
    const only = await borrow();
    const served: string[] = [];
    const waiters = ["a", "b"].map(async (name) => {
      const session = await borrow();
      served.push(name);
      pool.giveBack(session);
    });
    pool.giveBack(only);
    await Promise.all(waiters);
    assert.deepEqual(served, ["a", "b"]);
  });

  it("has no session for those whose time is over, and hands theirs to the next", async () => {
    const { pool, borrow } = setUp(1);
    const only = await borrow();
    const caller = new AbortController();
    const late = pool.borrow({ limitMs: 5 });
    const gone = pool.borrow({ ...LONG, signal: caller.signal });
    const next = borrow();
    caller.abort();
    assert.equal(await gone, null);
    assert.equal(await late, null);
    pool.giveBack(only);
    assert.equal(await next, only);
  });

  it("throws a lost session away and opens another for whoever waits", async () => {
    const { pool, opened, borrow } = setUp(1);
    const broken = await borrow();
    const next = borrow();
    broken.close();
    pool.giveBack(broken);
    assert.notEqual(await next, broken);
    assert.equal(opened.length, 2);
  });

  it("closes every session it has opened, lent or not", async () => {
    const { pool, opened, borrow } = setUp(2);
    const first = await borrow();
    await borrow();
    pool.giveBack(first);
    await pool[Symbol.asyncDispose]();
    assert.deepEqual(
      opened.map(({ isLost }) => isLost),
      [true, true],
    );
  });
});
