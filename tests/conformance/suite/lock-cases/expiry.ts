import assert from "node:assert/strict";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { holdLock } from "../../../support/hold-lock";
import { type LockCase, withoutServer } from "../case";
import { type LockUnderTest, SHORT_TTL_MS } from "../strategy-under-test";

/** A worker acquires the lock and holds it longer than any waiter waits. */
async function holdInWorker(tested: LockUnderTest, { index, holdMs }: { index: number; holdMs: number }) {
  const request = tested.fresh({ ttlMs: SHORT_TTL_MS });
  const worker = (await tested.workers())[index];
  if (!worker) throw new Error(`worker ${index} does not exist`);
  const { resource, ttlMs, waitTimeoutMs } = request;
  worker.send({ kind: "hold", resource, ttlMs, waitTimeoutMs, holdMs, callers: 1, holdsEach: 1 });
  await worker.until("granted");
  assert.equal((await tested.tryNow(request)).status, "contended", "a second holder entered");
  return { request, worker };
}

/** The hold stays after a holder crash, because no server clock ends it. */
const neverExpires = ({ survives, expiryClock }: StrategyTraits) =>
  survives.holderCrash === "blocks" && expiryClock !== "server";

/** A wait this long shows that the lock is blocked. */
const BLOCKED_WAIT_MS = 2 * SHORT_TTL_MS;

/** Kills the last worker, so it runs after the cases that need all three. */
export const holderKilled: LockCase = {
  name: (traits) =>
    neverExpires(traits)
      ? "stays blocked after its holder was killed: the flaw it demonstrates"
      : "goes to the next caller after its holder was killed",
  notApplicable: withoutServer,
  async run(tested) {
    const { request, worker } = await holdInWorker(tested, { index: 2, holdMs: 60_000 });
    worker.signal("SIGKILL");
    const waitTimeoutMs = neverExpires(tested.traits) ? BLOCKED_WAIT_MS : 20_000;
    const outcome = await tested.lock.runGuarded({ ...request, waitTimeoutMs }, async () => "entered");
    if (neverExpires(tested.traits))
      assert.equal(outcome.status, "contended", "expected the crashed holder to block the lock, but it was granted");
    else assert.equal(outcome.status, "completed", "the crashed holder still blocks the lock after 20 s");
  },
};

/** A paused holder blocks all waiters, because its connection, or its key without expiry, remains. */
const blocksWhilePaused = (traits: StrategyTraits) => neverExpires(traits) || traits.survives.holderPause === "blocks";

export const holderPaused: LockCase = {
  name: (traits) => {
    if (blocksWhilePaused(traits))
      return "stays blocked while its holder is paused, and is free after the holder continues";
    return traits.ownerless
      ? "releases another hold after a pause past its TTL: the flaw it demonstrates"
      : "does not release another hold after a pause past its lease, and signals the loss to the paused holder";
  },
  notApplicable: withoutServer,
  async run(tested) {
    // Its section ends when the worker continues. Before that, it checks its lease or session once.
    const { request, worker } = await holdInWorker(tested, { index: 1, holdMs: 0.8 * SHORT_TTL_MS });
    worker.signal("SIGSTOP");
    try {
      if (blocksWhilePaused(tested.traits)) {
        const waiting = { ...request, waitTimeoutMs: BLOCKED_WAIT_MS };
        const outcome = await tested.lock.runGuarded(waiting, async () => "entered");
        assert.equal(outcome.status, "contended", "a second holder entered");
        worker.signal("SIGCONT");
        await worker.until("done");
        assert.equal((await tested.tryNow(request)).status, "completed");
        return;
      }
      await using _second = await holdLock(tested.lock, { ...request, ttlMs: 20_000 });
      worker.signal("SIGCONT");
      await worker.until("done");
      const third = await tested.tryNow(request);
      if (tested.traits.ownerless)
        return assert.equal(third.status, "completed", "expected the ownerless release to free the second hold");
      assert.equal(third.status, "contended", "the release of the first holder freed the hold of the second");
      const kinds = worker.messages.map(({ type }) => type);
      assert.ok(
        kinds.includes("lost") && kinds.indexOf("lost") < kinds.indexOf("hold"),
        `expected "lost" before "hold" from the paused holder, found: ${kinds.join(", ")}`,
      );
    } finally {
      worker.signal("SIGCONT");
    }
  },
};
