import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addressesOf } from "./service-state";

describe("addressesOf", () => {
  const cases: [Parameters<typeof addressesOf>[0], string, string[]][] = [
    ["postgres", "postgresql://lab:secret@127.0.0.1:15432/flash_sale_lab", ["127.0.0.1:15432"]],
    ["postgres", "postgresql://lab@db/shop", ["db:5432"]],
    ["redis", "redis://cache", ["cache:6379"]],
    ["memcached", "127.0.0.1:11311", ["127.0.0.1:11311"]],
    ["memcached", "memcached://127.0.0.1:11311", ["127.0.0.1:11311"]],
    ["zookeeper", "a:2181,b:2182", ["a:2181", "b:2182"]],
    ["etcd", "http://[::1]:2379", ["::1:2379"]],
    ["redis", "not a url at all", []],
  ];
  for (const [service, text, expected] of cases) {
    it(`reads ${text}`, () => {
      assert.deepEqual(
        addressesOf(service, text).map(({ host, port }) => `${host}:${port}`),
        expected,
      );
    });
  }
});
