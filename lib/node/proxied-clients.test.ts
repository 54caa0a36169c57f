import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { routedAddress, throughProxies } from "./proxied-clients";

describe("the address of a server behind proxies", () => {
  const cases: readonly [string, readonly number[] | undefined, string][] = [
    ["redis://127.0.0.1:6379", [9001], "redis://127.0.0.1:9001"],
    ["redis://user:secret@db.example:6379/2", [9001], "redis://user:secret@127.0.0.1:9001/2"],
    [
      "postgresql://lab:p%40ss@localhost/lab?sslmode=disable",
      [9001],
      "postgresql://lab:p%40ss@127.0.0.1:9001/lab?sslmode=disable",
    ],
    ["redis://a:1,redis://b:2", [9001, 9002], "redis://127.0.0.1:9001,redis://127.0.0.1:9002"],
    ["zk-1:2181,zk-2:2181/chroot", [9001, 9002], "127.0.0.1:9001,127.0.0.1:9002/chroot"],
    ["memcached://[::1]:11211", [9001], "memcached://127.0.0.1:9001"],
    ["localhost:11211", undefined, "localhost:11211"],
  ];
  for (const [address, ports, expected] of cases) {
    it(`keeps everything but host and port of ${address}`, () =>
      assert.equal(throughProxies(address, ports), expected));
  }

  it("names the proxies before the servers of a run, or these servers if they have none", () => {
    const addresses = { zookeeper: "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", redis: "redis+sentinel://127.0.0.1:4/lab" };
    const routes = { addresses, ports: { zookeeper: [9001, 9002, 9003] } };
    const routed = (id: "zookeeper" | "redis" | "etcd") => routedAddress(routes, id, "configured");
    assert.equal(routed("zookeeper"), "127.0.0.1:9001,127.0.0.1:9002,127.0.0.1:9003");
    assert.deepEqual([routed("redis"), routed("etcd")], [addresses.redis, "configured"]);
  });
});
