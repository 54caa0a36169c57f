import { once } from "node:events";
import { createLock } from "../../lib/locks/registry";
import type { Grant } from "../../lib/locks/types";
import { openLockClients } from "./lock-clients";
import type { LockProcessMessage, LockProcessOrder } from "./lock-process";

/** The other end of `LockProcess`: waits for "go", takes its holds, tells of each. */
const order = JSON.parse(process.argv[2] ?? "") as LockProcessOrder;
const nowNs = () => process.hrtime.bigint();

function say(message: LockProcessMessage): void {
  process.send?.(message);
}

async function main(): Promise<void> {
  await using clients = openLockClients();
  await using lock = createLock(order.strategyId, clients);
  const { resource, ttlMs, waitTimeoutMs } = order;
  // Connects before the race is on.
  await lock.runGuarded({ resource: `${resource}.warm.${process.pid}`, ttlMs, waitTimeoutMs: 5_000 }, async () => {});

  async function hold(grant: Grant): Promise<void> {
    const fromNs = nowNs();
    say({ type: "granted", atNs: String(fromNs) });
    grant.signal.addEventListener("abort", () => say({ type: "lost", atNs: String(nowNs()) }), { once: true });
    await clients.clock.sleep(order.holdMs);
    const fencingToken = grant.fencingToken === null ? null : String(grant.fencingToken);
    say({ type: "hold", holderId: grant.holderId, fromNs: String(fromNs), toNs: String(nowNs()), fencingToken });
  }

  async function call(): Promise<void> {
    for (let turn = 0; turn < order.holdsEach; turn++) {
      const outcome = await lock.runGuarded({ resource, ttlMs, waitTimeoutMs }, hold);
      if (outcome.status === "contended") say({ type: "contended" });
    }
  }

  say({ type: "ready" });
  await once(process, "message");
  await Promise.all(Array.from({ length: order.callers }, call));
  say({ type: "done" });
}

main().then(
  () => process.disconnect(),
  (error: unknown) => {
    say({ type: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    process.disconnect();
  },
);
