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
  const borrow = async () => (await pool.borrow(LONG)) ?? assert.fail("expected a session, found none");
  return { pool, opened, borrow };
}

describe("the pool of Redis sessions", () => {
  it("lends a session to one borrower at a time and reuses it", async () => {
    const { pool, opened, borrow } = setUp(2);
    const [first, second] = [await borrow(), await borrow()];
    assert.notEqual(first, second);
    pool.giveBack(first);
    assert.equal(await borrow(), first);
    assert.equal(opened.length, 2);
  });

  it("serves waiting borrowers in FIFO order", async () => {
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

  it("skips borrowers that timed out or aborted", async () => {
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

  it("discards a lost session and opens another for the next borrower", async () => {
    const { pool, opened, borrow } = setUp(1);
    const broken = await borrow();
    const next = borrow();
    broken.close();
    pool.giveBack(broken);
    assert.notEqual(await next, broken);
    assert.equal(opened.length, 2);
  });

  it("closes all sessions, borrowed or idle, when it is disposed of", async () => {
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
