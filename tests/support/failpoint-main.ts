import { createRedisSetnxExpire } from "../../lib/locks/redis/redis-setnx-expire";
import { openLockClients } from "./lock-clients";

/** A process that reports when it is between SETNX and PEXPIRE, and then waits until the test kills it. */
const clients = openLockClients();
const lock = createRedisSetnxExpire(clients.redis(), clients, {
  tryLimitMs: 60_000,
  betweenCommands: () => {
    process.send?.("between");
    return new Promise(() => {});
  },
});
lock
  .runGuarded({ resource: process.argv[2] ?? "", waitTimeoutMs: 60_000, ttlMs: 60_000 }, async () => {})
  .catch((error: Error) => process.send?.(error.message));
