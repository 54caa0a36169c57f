import { describe } from "node:test";
import { requireEnv, setEnv } from "../../support/lab-env";
import { testCells } from "../../support/matrix-lab";

requireEnv("DATABASE_URL", "ZOOKEEPER_HOSTS");
setEnv({ STORE_NODE: "matrix-nodes-test" });

describe("the fault matrix, with faults of store nodes,", () => {
  testCells([
    { strategy: "none", fault: null, shows: ({ violations }) => (violations.oversold ?? 0) > 0 },
    { strategy: "redis-lock", fault: null },
    {
      strategy: "redis-lock",
      fault: "pause-holder",
      shows: ({ violations }) => (violations.overlappingHolds ?? 0) > 0,
    },
    { strategy: "redlock", fault: "pause-holder" },
    { strategy: "redis-fenced", fault: "pause-holder", shows: ({ refusedStaleWrites }) => refusedStaleWrites > 0 },
    { strategy: "zk-mutex", fault: "pause-holder" },
    { strategy: "zk-fenced", fault: "pause-holder", shows: ({ refusedStaleWrites }) => refusedStaleWrites > 0 },
    { strategy: "redis-set-px", fault: "slow-work" },
    { strategy: "redis-setnx", fault: "kill-holder", shows: ({ nextGrantMs }) => nextGrantMs === null },
    { strategy: "redis-setnx-expire", fault: "kill-between-setnx-expire" },
    { strategy: "sql-guarded", fault: "store-node-crash" },
  ]);
});
