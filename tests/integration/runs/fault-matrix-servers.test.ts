import { describe } from "node:test";
import { requireEnv, setEnv } from "../../support/lab-env";
import { testCells } from "../../support/matrix-lab";

requireEnv("DATABASE_URL");
setEnv({ STORE_NODE: "matrix-servers-test" });

describe("the fault matrix, with faults of servers and of the network,", () => {
  testCells([
    { strategy: "redis-set-px", fault: "redis-restart" },
    { strategy: "redis-setnx", fault: "redis-restart" },
    { strategy: "memcached-add", fault: "memcached-flush" },
    { strategy: "memcached-cas", fault: "memcached-flush", shows: ({ unsold }) => unsold > 0 },
    { strategy: "sql-row-lock", fault: "pg-disconnect" },
    { strategy: "redis-setnx", fault: "reset_peer" },
    { strategy: "redis-setnx", fault: "down" },
    { strategy: "redlock", fault: "down" },
    { strategy: "sql-buckets", fault: "down" },
  ]);
});
