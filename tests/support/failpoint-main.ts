import { createRedisSetnxExpire } from "../../lib/locks/redis/redis-setnx-expire";
import { openLockClients } from "./lock-clients";

/** A process that stops for good between SETNX and PEXPIRE, and says so, to be killed there. */
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
