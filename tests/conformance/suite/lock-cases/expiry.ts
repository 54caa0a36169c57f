import assert from "node:assert/strict";
import type { StrategyTraits } from "../../../../lib/locks/types";
import { stayIn } from "../../../support/stay";
import { type LockCase, withoutServer } from "../case";
import { type LockUnderTest, SHORT_TTL_MS } from "../strategy-under-test";

/** A worker takes the lock and works for longer than anybody waits. */
async function holdElsewhere(subject: LockUnderTest, { index, holdMs }: { index: number; holdMs: number }) {
  const request = subject.fresh({ ttlMs: SHORT_TTL_MS });
  const worker = (await subject.workers())[index];
  if (!worker) throw new Error(`there is no worker ${index}`);
  const { resource, ttlMs, waitTimeoutMs } = request;
  worker.send({ kind: "hold", resource, ttlMs, waitTimeoutMs, holdMs, callers: 1, holdsEach: 1 });
  await worker.until("granted");
  assert.equal((await subject.tryNow(request)).status, "contended", "two were in at once");
  return { request, worker };
}

/** A hold that only its holder ends, whose holder is gone, is nobody's any more. What stays for ever is in no clock's hands. */
const staysForEver = ({ survives, expiryClock }: StrategyTraits) =>
  survives.holderCrash === "blocks" && expiryClock !== "server";

/** Its holder runs this long past its TTL before anybody says that it blocks. */
const IN_VAIN_MS = 2 * SHORT_TTL_MS;

/** Uses up the last worker: it comes after the cases that need all three. */
export const holderKilled: LockCase = {
  name: (traits) =>
    staysForEver(traits)
      ? "goes to nobody after its holder was killed: the flaw it is here to show"
      : "goes to the next caller after its holder was killed",
  notApplicable: withoutServer,
  async run(subject) {
    const { request, worker } = await holdElsewhere(subject, { index: 2, holdMs: 60_000 });
    worker.signal("SIGKILL");
    const waitTimeoutMs = staysForEver(subject.traits) ? IN_VAIN_MS : 20_000;
    const outcome = await subject.lock.runGuarded({ ...request, waitTimeoutMs }, async () => "entered");
    if (staysForEver(subject.traits)) assert.equal(outcome.status, "contended", "the dead holder's hold has ended");
    else assert.equal(outcome.status, "completed", "the dead holder's hold has no end");
  },
};

/** A paused holder keeps everybody out: its connection, or its key without an end, stays. */
const blocksWhilePaused = (traits: StrategyTraits) => staysForEver(traits) || traits.survives.holderPause === "blocks";

export const holderPaused: LockCase = {
  name: (traits) => {
    if (blocksWhilePaused(traits)) return "goes to nobody while its holder is paused, and is free once that has ended";
    return traits.ownerless
      ? "frees another's hold after a pause past its TTL: the flaw it is here to show"
      : "frees nobody else's hold after a pause past its lease, and tells the paused holder first";
  },
  notApplicable: withoutServer,
  async run(subject) {
    // Its time is up when it goes on; before that it would have looked at its lease or session once.
    const { request, worker } = await holdElsewhere(subject, { index: 1, holdMs: 0.8 * SHORT_TTL_MS });
    worker.signal("SIGSTOP");
    try {
      if (blocksWhilePaused(subject.traits)) {
        const waiting = { ...request, waitTimeoutMs: IN_VAIN_MS };
        const outcome = await subject.lock.runGuarded(waiting, async () => "entered");
        assert.equal(outcome.status, "contended", "two were in at once");
        worker.signal("SIGCONT");
        await worker.until("done");
        assert.equal((await subject.tryNow(request)).status, "completed");
        return;
      }
      await using _second = await stayIn(subject.lock, { ...request, ttlMs: 20_000 });
      worker.signal("SIGCONT");
      await worker.until("done");
      const third = await subject.tryNow(request);
      if (subject.traits.ownerless) return assert.equal(third.status, "completed", "it knew that it was not its own");
      assert.equal(third.status, "contended", "the first one's release has freed the second one's hold");
      const kinds = worker.messages.map(({ type }) => type);
      assert.ok(
        kinds.includes("lost") && kinds.indexOf("lost") < kinds.indexOf("hold"),
        `the paused holder went on before it was told: ${kinds.join(", ")}`,
      );
    } finally {
      worker.signal("SIGCONT");
    }
  },
};
