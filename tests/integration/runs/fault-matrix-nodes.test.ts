import assert from "node:assert/strict";
import { describe } from "node:test";
import { verdictText } from "../../support/fault-sales";
import { requireEnv, setEnv } from "../../support/lab-env";
import { type CellRun, testCells } from "../../support/matrix-lab";

requireEnv("DATABASE_URL", "REDIS_URL", "ZOOKEEPER_HOSTS");
setEnv({ STORE_NODE: "matrix-nodes-test" });

function verifyOverlap({ document }: CellRun): void {
  assert.ok(document.violations.overlappingHolds > 0, verdictText(document));
}

function verifyRefusedWrite({ result, document }: CellRun): void {
  assert.ok(result.refusedStaleWrites > 0, verdictText(document));
}

function verifyNoGrant({ result, document }: CellRun): void {
  const text = verdictText(document);
  assert.equal(result.nextGrantMs, null, text);
  assert.ok(result.unserved > 0 && result.unsold > 0, text);
  assert.match(text, /no purchase got the lock for [\d.]+ s: \d+ purchases waited/);
}

function verifyNoExpiry(run: CellRun): void {
  const proof = run.document.faults[0]?.proof ?? "";
  assert.match(proof, /killed between SETNX and PEXPIRE: .* PTTL redis-setnx-expire:product:\d+ was -1\.$/);
  verifyNoGrant(run);
}

describe("the fault matrix, with faults of store nodes,", () => {
  testCells([
    { strategy: "redis-lock", fault: null },
    { strategy: "redis-lock", fault: "pause-holder", verify: verifyOverlap },
    { strategy: "redlock", fault: "pause-holder" },
    { strategy: "redis-fenced", fault: "pause-holder", verify: verifyRefusedWrite },
    { strategy: "zk-mutex", fault: "pause-holder" },
    { strategy: "zk-fenced", fault: "pause-holder", verify: verifyRefusedWrite },
    { strategy: "redis-setnx", fault: "kill-holder", verify: verifyNoGrant },
    { strategy: "redis-setnx-expire", fault: "kill-between-setnx-expire", verify: verifyNoExpiry },
    { strategy: "redis-decrement", fault: "store-node-crash" },
    { strategy: "memcached-cas", fault: "store-node-crash" },
  ]);
});
