import assert from "node:assert/strict";
import { it } from "node:test";
import { redisAt } from "./redis-at";

it("asks the Sentinels of a Sentinel address for the master, and connects to any other address directly", () => {
  const bySentinel = redisAt("redis+sentinel://127.0.0.1:1,[::1]:2/lab", { lazyConnect: true }).options;
  assert.deepEqual(
    [bySentinel.name, bySentinel.sentinels],
    [
      "lab",
      [
        { host: "127.0.0.1", port: 1 },
        { host: "[::1]", port: 2 },
      ],
    ],
  );
  const direct = redisAt("redis://127.0.0.1:3", { lazyConnect: true }).options;
  assert.deepEqual([direct.host, direct.port, direct.sentinels], ["127.0.0.1", 3, null]);
});
