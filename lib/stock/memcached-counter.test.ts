import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemcachedError } from "../locks/memcached/memcached-port";
import { MemcachedCounter } from "./memcached-counter";
import { FakeMemcached } from "./testing/fake-memcached";
import { assertLockError, PRODUCT } from "./testing/requests";

const KEY = "stock:product:7";

function setUp(value: string | null) {
  const client = new FakeMemcached();
  if (value !== null) client.store({ key: KEY, value, expirySeconds: 30 });
  return { client, counter: new MemcachedCounter(client, "test", PRODUCT) };
}

describe("the counter in Memcached", () => {
  it("reads a number, also one that Memcached padded with spaces after a decrement", async () => {
    assert.equal((await setUp("12").counter.read())?.stock, 12);
    assert.equal((await setUp("9 ").counter.read())?.stock, 9);
    assert.equal(await setUp(null).counter.read(), null);
  });

  it("fails with config_invalid when the value is no number", async () => {
    for (const value of ["plenty", "-1", "1.5", ""])
      await assertLockError(setUp(value).counter.read(), "config_invalid", { isDefinite: true });
  });

  it("replaces only the version it read", async () => {
    const { client, counter } = setUp("5");
    const reading = (await counter.read()) ?? assert.fail("expected a counter");
    assert.equal(await counter.replace(reading, { stock: 4, expirySeconds: 30 }), "replaced");
    assert.equal(await counter.replace(reading, { stock: 3, expirySeconds: 30 }), "changed");
    client.items.clear();
    assert.equal(await counter.replace(reading, { stock: 3, expirySeconds: 30 }), "gone");
  });

  it("creates a counter only where there is none, and resets it in any case", async () => {
    const { client, counter } = setUp("5");
    await counter.seed(9, 30);
    assert.equal(client.value(KEY), "5");
    await counter.reset(9, 30);
    assert.equal(client.value(KEY), "9");
  });

  it("does not create a counter when it gives units back", async () => {
    const { client, counter } = setUp(null);
    await counter.giveBack(2);
    assert.equal(client.value(KEY), null);
  });

  for (const [kind, code] of [
    ["unreachable", "backend_unavailable"],
    ["not-serving", "backend_unavailable"],
    ["refused", "config_invalid"],
  ] as const)
    it(`reports a ${kind} server as ${code}`, async () => {
      const { client, counter } = setUp("5");
      client.before = () => {
        throw new MemcachedError(kind, "no reply");
      };
      await assertLockError(counter.read(), code, { isDefinite: true });
      await assertLockError(counter.giveBack(1), code, { isDefinite: true });
    });
});
