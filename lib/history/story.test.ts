import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkParsedHistory } from "./check-history";
import { isViolation } from "./finding";
import type { History } from "./history";
import { toFault } from "./operation";
import { type Story, storyOf } from "./story";
import { history, type OpFields, op, rowOf } from "./testing/make-history";
import { pausedSale, SOLD_MEANWHILE } from "./testing/paused-sale";

const MS = 1_000_000;
const at = (ms: number) => ms * MS;

function told(subject: History): Story {
  const { findings } = checkParsedHistory({ run: null, end: null, history: subject, doubts: [], lines: 0 });
  return storyOf(subject, findings.filter(isViolation)) ?? assert.fail("expected a story");
}
/** "!+12500 node-1 write stock = 99", in milliseconds; "*" for a step that belongs to no purchase. */
function lines({ interleaving: { steps, actors } }: Story): string[] {
  const nodeOf = new Map(actors.map(({ opId, node }) => [opId, node]));
  return steps
    .filter(({ isDetail }) => !isDetail)
    .map((step) => {
      const who = nodeOf.get(step.opId ?? "") ?? "*";
      return `${step.isMarked ? "!" : ""}+${step.afterNs / MS} ${who} ${step.text}`;
    });
}
/** "lock: 0-5000 node-1, 5090-5113 node-2" */
function lanes({ lanes: all }: Story): string[] {
  return all.map(({ name, segments }) => {
    return `${name}: ${segments.map(({ fromNs, toNs, text }) => `${fromNs / MS}-${toNs / MS} ${text}`).join(", ")}`;
  });
}

/** A purchase that has the lock from `fromMs` for 10 ms. */
function sale(node: string, fromMs: number, fields: OpFields = {}) {
  return op({
    ...{ node, waitNs: at(1), grantedNs: at(fromMs), readNs: at(fromMs + 1), writeNs: at(fromMs + 7) },
    ...{ writeAccepted: true, committedNs: at(fromMs + 8), releasedNs: at(fromMs + 10), answeredNs: at(fromMs + 11) },
    ...fields,
  });
}
const fault = (faultId: string, [fromMs, toMs]: readonly [number, number], fields: object = {}) =>
  toFault({ faultId, fromNs: String(at(fromMs)), toNs: String(at(toMs)), ...fields });

describe("the story of a paused holder whose write is accepted", () => {
  const story = told(pausedSale({ fenced: false }));

  it("says how long it was paused, who got the lock, and what its write caused", () => {
    assert.equal(story.faultId, "pause-holder");
    assert.equal(
      story.sentence,
      "node-1 was paused for 12.5 s while it held the lock. Its lease expired, node-2 acquired the lock, and when node-1 woke up, the resource accepted its stale write, which caused 5 lost updates.",
    );
  });

  it("counts a sale that a busy node confirmed only after the late write, because the database has it before", () => {
    for (let late = 0; late < SOLD_MEANWHILE; late += 1) {
      const { sentence } = told(pausedSale({ fenced: false, confirmedLate: late }));
      assert.match(sentence, /accepted its stale write, which caused 5 lost updates\.$/, `sale ${late}`);
    }
  });

  it("goes from the grant to the release of the two purchases, and marks the stale write", () => {
    assert.deepEqual(lines(story), [
      "+0 node-1 acquire lock",
      "+2 node-1 read stock = 100",
      "+10 node-1 paused (pause-holder)",
      "!+5000 node-1 lease expires",
      "+5090 node-2 acquire lock",
      "+5092 node-2 read stock = 100",
      "+5110 node-2 write stock = 99",
      "+5112 node-2 COMMIT confirmed, order o-2",
      "+5113 node-2 release lock",
      "+12510 node-1 wakes after 12.5 s",
      "!+12511 node-1 write stock = 99: ACCEPTED",
      "!+12512 node-1 COMMIT confirmed, order late",
      "+12513 node-1 release lock",
    ]);
  });

  it("has a lane for each purchase, for the lock and for the stock", () => {
    assert.deepEqual(lanes(story), [
      "node-1: 0-10 has the lock, 10-12510 paused, 12510-12513 lease expired",
      "node-2: 0-5090 waits, 5090-5113 has the lock",
      "lock: 0-5000 node-1, 5090-5113 node-2, 5190-5513 others",
      "stock: 0-5112 100, 5112-5113 99, 5113-12510 99 to 95, 12510-12512 95, 12512-12513 99",
    ]);
    assert.equal(story.lanes.at(-1)?.segments.at(-1)?.state, "rises");
  });

  it("has the state of each lane at each step", () => {
    const at = (index: number) => story.lanes.map(({ states }) => states.at(index));
    assert.deepEqual(at(0), ["has the lock", "waits", "node-1", "100"]);
    assert.deepEqual(at(4), ["paused", "has the lock", "node-2", "100"]);
    assert.deepEqual(at(-2), ["lease expired", "–", "free", "99"]);
    assert.deepEqual(at(-1), ["–", "–", "free", "99"]);
  });
});

describe("the stock of a story", () => {
  it("follows the order of the database if a busy node confirms its write late", () => {
    const values = (readValue: number) => ({ readValue, writtenValue: readValue - 1 });
    const lease = { leaseUntilNs: at(500), writeNs: at(2_020), committedNs: at(2_090), releasedNs: at(2_091) };
    const late = sale("node-1", 10, { ...values(9), ...lease, answeredNs: at(2_092) });
    const before = [sale("node-2", 600, values(9)), sale("node-2", 700, values(8))];
    const after = sale("node-2", 2_030, values(7));
    const pause = fault("pause-holder", [15, 2_015], { stoppedNode: "node-1" });
    const end = { final: 6, orders: [...before, late, after].map((line) => rowOf(line)) };
    const story = told(history({ ops: [late, ...before, after], faults: [pause], run: { initial: 9 }, end }));
    assert.equal(
      lanes(story).at(-1),
      "stock: 0-598 9, 598-600 8, 600-2005 8 to 7, 2005-2010 7, 2010-2080 7 to 8 to 6, 2080-2081 6",
    );
    assert.deepEqual(
      story.lanes.at(-1)?.segments.map(({ state }) => state),
      ["value", "value", "value", "value", "rises", "value"],
    );
  });
});

describe("the story of a paused holder whose write is refused", () => {
  const story = told(pausedSale({ fenced: true }));

  it("names both tokens and marks no violation", () => {
    assert.equal(
      story.sentence,
      "node-1 was paused for 12.5 s while it held the lock. Its lease expired, node-2 acquired the lock, and when node-1 woke up, the resource refused its stale write (token 1 < 6).",
    );
    assert.ok(lines(story).includes("+12511 node-1 write stock = 99: REFUSED (token 1 < 6)"), lines(story).join("\n"));
    assert.ok(lines(story).every((line) => !line.startsWith("!")));
    assert.equal(lanes(story).at(-1), "stock: 0-5112 100, 5112-5113 99, 5113-12510 99 to 95, 12510-12513 95");
  });
});

describe("the story of a paused holder that keeps its lock", () => {
  it("says when the next purchase acquired it", () => {
    const holder = sale("node-1", 10, {
      writeNs: at(2_020),
      committedNs: at(2_021),
      releasedNs: at(2_022),
      answeredNs: at(2_023),
    });
    const pause = fault("pause-holder", [15, 2_015], { stoppedNode: "node-1" });
    const story = told(history({ ops: [holder, sale("node-2", 2_025)], faults: [pause] }));
    assert.equal(
      story.sentence,
      "node-1 was paused for 2.00 s while it held the lock, and the lock stayed taken: node-2 acquired it 10 ms after node-1 woke up.",
    );
  });
});

describe("the story of a holder whose work is delayed", () => {
  const slow = fault("slow-work", [15, 2_515], { slowedNode: "node-1" });
  const values = (readValue: number) => ({ readValue, writtenValue: readValue - 1 });
  const slowFields = { ...values(9), releasedNs: at(2_522), answeredNs: at(2_523) };
  const next = sale("node-2", 1_010, values(9));
  const expired =
    "node-1 worked 2.50 s longer while it held the lock. Its lease expired, node-2 acquired the lock, and";

  it("names the holder, the next one, and what the late write caused", () => {
    const holder = sale("node-1", 10, {
      ...slowFields,
      leaseUntilNs: at(1_000),
      writeNs: at(2_520),
      committedNs: at(2_521),
    });
    const sameNode = sale("node-1", 1_030, values(8));
    const end = { final: 8, orders: [next, sameNode, holder].map((line) => rowOf(line)) };
    const story = told(history({ ops: [holder, next, sameNode], faults: [slow], run: { initial: 9 }, end }));
    assert.equal(
      story.sentence,
      `${expired} when the work of node-1 ended, the resource accepted its stale write, which caused 2 lost updates.`,
    );
    const shown = lines(story);
    assert.ok(shown.includes("+5 node-1 slow work begins (slow-work)"), shown.join("\n"));
    assert.ok(shown.includes("+2505 node-1 slow work ends after 2.50 s"), shown.join("\n"));
    assert.deepEqual(lanes(story).slice(0, 2), [
      "node-1: 0-990 has the lock, 990-2512 lease expired",
      "node-2: 0-1000 waits, 1000-1010 has the lock",
    ]);
  });

  describe("whose release deletes the lock of another holder", () => {
    const holder = sale("node-1", 10, {
      ...{ ...slowFields, leaseUntilNs: at(1_000), writeNs: at(2_520), committedNs: at(2_521) },
    });
    const owner = sale("node-2", 2_500, { ...values(8), leaseUntilNs: at(3_500), releasedNs: at(2_560) });
    const third = sale("node-3", 2_530, { ...values(8), leaseUntilNs: at(3_530) });
    const storyWith = (...others: Parameters<typeof rowOf>[0][]) => {
      const ops = [holder, next, ...others];
      const end = { final: 8, orders: ops.map((line) => rowOf(line)) };
      return told(history({ ops, faults: [slow], run: { initial: 9 }, end }));
    };

    it("says so, and marks the release and the grant that followed", () => {
      const story = storyWith(owner, third);
      assert.match(story.sentence, / Its release deleted the lock of node-2, so node-3 acquired it too\.$/);
      const marked = lines(story).filter((line) => line.startsWith("!"));
      assert.ok(marked.includes("!+2512 node-1 release lock"), marked.join("\n"));
      assert.ok(marked.includes("!+2520 node-3 acquire lock"), marked.join("\n"));
    });

    it("claims no such thing if the other holder's lease had expired, or if nobody followed", () => {
      const expiredOwner = { ...owner, leaseUntilNs: String(at(2_525)) };
      for (const story of [storyWith(expiredOwner, third), storyWith(owner)])
        assert.doesNotMatch(story.sentence, /Its release/);
    });
  });

  it("says that a holder that detected its loss wrote nothing", () => {
    const { writeNs: _write, committedNs: _commit, writeAccepted: _accepted, ...unwritten } = sale("node-1", 10);
    const loss = { leaseLostNs: String(at(1_000)), releasedNs: String(at(2_522)), answeredNs: String(at(2_523)) };
    const holder = { ...unwritten, ...loss, outcome: "error" as const };
    const story = told(history({ ops: [holder, next], faults: [slow], run: { initial: 9 } }));
    assert.equal(story.sentence, `${expired} when the work of node-1 ended, it wrote nothing.`);
  });
});

describe("the story of a killed holder", () => {
  const killed = op({
    node: "node-1",
    waitNs: at(1),
    grantedNs: at(10),
    readNs: at(11),
    readValue: 5,
    outcome: "unknown",
  });
  const kill = fault("kill-holder", [20, 1_220], { killedNode: "node-1" });

  it("says that no purchase got the lock, and shows one that waited to the end", () => {
    const waiter = op({ node: "node-2", waitNs: at(2), answeredNs: at(6_020), outcome: "contended" });
    const other = op({ node: "node-2", waitNs: at(3), answeredNs: at(4_000), outcome: "contended" });
    const story = told(history({ ops: [killed, other, waiter], faults: [kill] }));
    assert.equal(
      story.sentence,
      "node-1 was killed while it held the lock. No purchase acquired the lock in the following 6.00 s: 2 purchases waited and were not served.",
    );
    assert.deepEqual(lines(story), [
      "+0 node-1 start waiting",
      "+1 node-2 start waiting",
      "+9 node-1 acquire lock",
      "+10 node-1 read stock = 5",
      "+19 node-1 killed (kill-holder)",
      "+1219 * node-1 runs again after 1.20 s",
      `+6019 node-2 answer "contended" to ${waiter.buyerId}`,
    ]);
    assert.deepEqual(lanes(story), [
      "node-1: 0-9 waits, 9-19 has the lock, 19-6019 killed",
      "node-2: 1-6019 waits",
      "lock: 9-6019 node-1",
    ]);
    assert.deepEqual(
      story.lanes.map(({ states }) => states.at(-1)),
      ["killed", "–", "node-1"],
    );
  });

  it("says when the next purchase acquired the lock", () => {
    const story = told(history({ ops: [killed, sale("node-2", 3_020)], faults: [kill] }));
    assert.equal(
      story.sentence,
      "node-1 was killed while it held the lock, and node-2 acquired the lock 3.00 s later.",
    );
    assert.ok(lanes(story).includes("lock: 0-3010 node-1, 3010-3020 node-2"), lanes(story).join("\n"));
  });
});

describe("the story of a killed holder whose lock has a lease", () => {
  const killed = op({
    ...{ node: "node-1", waitNs: at(1), grantedNs: at(10), readNs: at(11), readValue: 5, leaseUntilNs: at(1_010) },
    outcome: "unknown",
  });
  const kill = fault("kill-holder", [20, 1_220], { killedNode: "node-1" });
  const story = told(history({ ops: [killed, sale("node-2", 1_060)], faults: [kill] }));

  it("says when the lease expired, and when the next purchase acquired the lock after that", () => {
    assert.equal(
      story.sentence,
      "node-1 was killed while it held the lock. Its lease expired 990 ms later, and node-2 acquired the lock 50 ms after that.",
    );
  });

  it("has the end of the lease as a step, and a free lock from then on", () => {
    assert.ok(lines(story).includes("+1000 node-1 lease expires"), lines(story).join("\n"));
    assert.equal(lanes(story)[0], "node-1: 0-10 has the lock, 10-1210 killed");
    assert.equal(lanes(story)[2], "lock: 0-1000 node-1, 1050-1060 node-2");
  });
});

describe("the story of a fault that stops no holder", () => {
  it("shows the violation after a server's restart", () => {
    const first = sale("node-1", 10, {
      readValue: 9,
      writtenValue: 8,
      writeNs: at(400),
      committedNs: at(401),
      releasedNs: at(402),
      answeredNs: at(403),
    });
    const second = sale("node-2", 350, { readValue: 9, writtenValue: 8 });
    const restart = fault("redis-restart", [50, 260]);
    const story = told(history({ ops: [first, second], faults: [restart] }));
    assert.equal(
      story.sentence,
      "redis-restart lasted 210 ms. node-2 acquired the lock while node-1 held it: node-1 read 9, node-2 read 9, both wrote 8.",
    );
    assert.ok(lines(story).includes("+40 * redis-restart begins"), lines(story).join("\n"));
  });

  it("shows the purchases before and after a network fault that broke nothing", () => {
    const ops = [sale("node-1", 10), sale("node-2", 100), sale("node-1", 2_200), sale("node-2", 2_300)];
    const story = told(history({ ops, faults: [fault("latency", [105, 2_105])] }));
    assert.equal(story.sentence, "latency lasted 2.00 s. Meanwhile the lab sold to 1 buyer. No check failed.");
    assert.deepEqual(
      story.interleaving.actors.map(({ opId }) => opId),
      [ops[1]?.opId, ops[2]?.opId],
    );
  });

  it("does not blame a fault for a violation before it", () => {
    const ops = [sale("node-1", 10), sale("node-2", 15), sale("node-1", 2_200)];
    const story = told(history({ ops, faults: [fault("latency", [105, 2_105])] }));
    assert.match(story.sentence, /The findings name the checks that failed\.$/);
  });
});

describe("a history without a story", () => {
  it("has no fault, or the clocks of several hosts", () => {
    assert.equal(storyOf(history({ ops: [sale("node-1", 10)] }), []), null);
    const ops = [sale("node-1", 10), sale("node-2", 30, { host: "other" })];
    assert.equal(storyOf(history({ ops, faults: [fault("latency", [1, 2])] }), []), null);
  });

  it("tells of a fault in a run without a purchase that entered the critical section", () => {
    const refused = op({ invokedNs: 0, answeredNs: at(1), outcome: "error" });
    const story = told(history({ ops: [refused], faults: [fault("down", [0, 2_000])] }));
    assert.deepEqual([story.interleaving.actors, story.lanes], [[], []]);
  });
});
