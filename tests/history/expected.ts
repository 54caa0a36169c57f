import type { FindingKind, ViolationCounts } from "../../lib/history/finding";
import type { Verdict } from "../../lib/history/verdict";

/** The expected report of a hand-made history: exactly these violations, doubts and remarks. */
export interface Expectation {
  readonly verdict: Verdict;
  readonly violations?: Partial<ViolationCounts>;
  /** Kinds of doubts and remarks. */
  readonly doubts?: readonly FindingKind[];
  /** At least one finding's sentence must match. */
  readonly sentence?: RegExp;
}

const unsafe = (violations: Partial<ViolationCounts>, sentence?: RegExp): Expectation => ({
  verdict: "unsafe",
  violations,
  ...(sentence ? { sentence } : {}),
});
const SOLD_AGAIN =
  /^node-3 sold to buyer-3 from 17 left, although node-1 had sold to buyer-1 and left 16 before buyer-3's request\.$/;
const besideLoser = unsafe({ lostUpdates: 1, ticketOrder: 1 }, SOLD_AGAIN);
/** The values are those of a counter, so they prove nothing about the row. */
const besideLoserOfCounter = unsafe({ counterDrift: 1, ticketOrder: 1 }, SOLD_AGAIN);
const safe: Expectation = { verdict: "safe" };
const inconclusive = (doubts: readonly FindingKind[], sentence?: RegExp): Expectation => ({
  verdict: "inconclusive",
  doubts,
  ...(sentence ? { sentence } : {}),
});

/** Each has one planted violation, which can count under several kinds. */
const PLANTED: Readonly<Record<string, Expectation>> = {
  "oversold-one-unit-to-two": unsafe(
    { oversold: 1, lostUpdates: 1, overlappingHolds: 1 },
    /^node-2 read 1, node-1 read 1, both wrote 0\.$/,
  ),
  "oversold-below-zero": unsafe(
    { oversold: 1, negativeStock: 1 },
    /buyer-2 placed the first order that cannot be delivered/,
  ),
  "oversold-beside-dropped-operations": {
    ...unsafe({ oversold: 1, lostUpdates: 1 }, /the history does not show which/),
    doubts: ["droppedOperations"],
  },
  "lost-update": unsafe({ lostUpdates: 1, overlappingHolds: 1 }, /^node-2 read 17, node-1 read 17, both wrote 16\.$/),
  "lost-update-hidden-by-a-vanished-unit": unsafe({ lostUpdates: 1 }),
  "lost-update-of-different-quantities": unsafe(
    { lostUpdates: 3 },
    /^node-2 read 17 and wrote 14, node-1 read 17 and wrote 15\.$/,
  ),
  "lost-update-of-an-unknown-that-did-sell": unsafe({ lostUpdates: 1 }),
  undersold: unsafe({ undersold: 1 }),
  "undersold-write-without-order": unsafe({ undersold: 1 }, /node-2 wrote 1 for buyer-2, who has no order/),
  "counter-drift-below-the-row": unsafe(
    { counterDrift: 2 },
    /ended at 1 and the row at 3: 2 units cannot be bought\.$/,
  ),
  "counter-drift-above-the-row": unsafe({ counterDrift: 1 }, /: 1 unit on the counter cannot be delivered\.$/),
  "negative-stock-hidden-by-a-later-write": unsafe({ negativeStock: 1 }, /^node-3 read 1 and wrote -1\.$/),
  "duplicate-claims": unsafe({ duplicateClaims: 1 }, /^greedy has 2 units; the limit is 1\.$/),
  "duplicate-claims-by-quantity": unsafe({ duplicateClaims: 1 }),
  "overlapping-holds": unsafe({ overlappingHolds: 1 }, /^node-2 acquired the lock while node-1 held it: /),
  "overlapping-holds-inside-a-long-one": unsafe({ overlappingHolds: 2 }),
  "overlapping-holds-granted-at-the-same-instant": unsafe({ overlappingHolds: 1 }),
  "overlapping-holds-without-a-release": unsafe({ overlappingHolds: 1 }),
  "overlapping-holds-that-sold-nothing": unsafe(
    { overlappingHolds: 1 },
    /node-1 read 0, node-2 read 0, both wrote nothing\.$/,
  ),
  "overlapping-holds-of-the-same-node": unsafe(
    { overlappingHolds: 1, lostUpdates: 1 },
    /^node-1 \(buyer-1\) read 17, node-1 \(buyer-2\) read 17, both wrote 16\.$/,
  ),
  "overlapping-holds-across-hosts-by-values": {
    ...unsafe({ overlappingHolds: 1, lostUpdates: 1 }),
    doubts: ["noContention"],
  },
  "overlapping-holds-with-unchecked-tokens": unsafe({ overlappingHolds: 1 }),
  "overlapping-holds-beside-a-torn-line": {
    ...unsafe({ overlappingHolds: 1 }, /^Line 4 is not JSON\.$/),
    doubts: ["unreadableLine", "missingEnd"],
  },
  "fencing-order-descending": unsafe({ fencingOrder: 1 }, /^node-2 received fencing token 7 after .* received 8\.$/),
  "fencing-order-repeated": unsafe({ fencingOrder: 1 }, /both received fencing token 1\.$/),
  "fencing-order-repeated-across-hosts": { ...unsafe({ fencingOrder: 1 }), doubts: ["noContention"] },
  "stale-write-after-a-newer-read": unsafe({ staleWrites: 1, overlappingHolds: 1 }),
  "stale-write-hidden-behind-a-later-one": unsafe(
    { staleWrites: 1, overlappingHolds: 1 },
    /^The resource accepted a write of 3 by node-1 with fencing token 1 after node-2 had used token 2\.$/,
  ),
  "stale-write-across-hosts-by-token-and-value": {
    ...unsafe({ staleWrites: 1, overlappingHolds: 1 }),
    doubts: ["noContention"],
  },
  "stale-write-after-the-lease-was-lost": unsafe({ staleWrites: 1 }, /after node-\d had lost its lease\.$/),
  "stale-write-after-the-release": unsafe({ staleWrites: 1 }, /after node-\d had released the lock\.$/),
  "ticket-sold-after-sold-out": unsafe(
    { ticketOrder: 1 },
    /^node-3 sold to buyer-3, although node-2 had answered "sold out" to buyer-2 before buyer-3's request\.$/,
  ),
  "ticket-sold-after-sold-out-beside-an-unknown": unsafe({ ticketOrder: 1 }),
  "ticket-refused-too-early": unsafe(
    { ticketOrder: 1 },
    /answered "sold out" to .* when at most 1 of 2 units could have been sold\.$/,
  ),
  "ticket-order-against-real-time": unsafe({ ticketOrder: 1 }),
  "ticket-sold-twice-in-sequence": unsafe({ ticketOrder: 1, lostUpdates: 1 }),
  "acknowledged-without-row": unsafe(
    { acknowledgedRows: 1 },
    /answered "sold" to .*, but the database has no order\.$/,
  ),
  "acknowledged-then-lost-by-a-failover": unsafe(
    { failoverLosses: 1 },
    /^node-2 acknowledged order o2 to buyer-2, and then a failover lost it: the promoted replica did not have it\.$/,
  ),
  "acknowledged-twice-for-one-row": unsafe({ acknowledgedRows: 1 }, /but order o1 belongs to another purchase/),
  "acknowledged-with-two-rows": unsafe({ acknowledgedRows: 1 }, /but the database has 2 orders: o2, o3\.$/),
  "acknowledged-with-a-row-of-another-quantity": unsafe({ acknowledgedRows: 1 }),
  "acknowledged-with-a-row-of-another-buyer": unsafe({ acknowledgedRows: 1 }),
  "acknowledged-with-another-order-id": unsafe(
    { acknowledgedRows: 1 },
    /the answer named order o9 and the database has order o2\.$/,
  ),
  "repeated-key-sold-twice": unsafe({ acknowledgedRows: 1 }),
  "unknown-sold-twice": unsafe({ unknownRows: 1 }, /got no definite answer from .*, and the database has 2 orders\.$/),
  "refused-with-a-row": unsafe({ refusedRows: 1 }, /answered "contended" to .*, but the database has order o1\.$/),
  "error-with-a-row": unsafe({ refusedRows: 1 }),
  // In each, one purchase fails as its strategy makes it fail; its lost write must not explain the violation.
  "lost-update-beside-a-loser-of-sql-serializable": besideLoser,
  "lost-update-beside-a-loser-of-sql-optimistic": besideLoser,
  "lost-update-beside-a-loser-of-sql-guarded": besideLoser,
  "lost-update-beside-a-loser-of-sql-decrement": besideLoser,
  "lost-update-beside-a-loser-of-redis-decrement": besideLoserOfCounter,
  "lost-update-beside-a-loser-of-redis-watch": besideLoserOfCounter,
  "lost-update-beside-a-loser-of-memcached-cas": besideLoserOfCounter,
  "ticket-refused-too-early-beside-a-loser-of-sql-buckets": unsafe(
    { ticketOrder: 1 },
    /answered "sold out" to buyer-3 when at most 1 of 2 units could have been sold\.$/,
  ),
  "row-without-a-purchase": unsafe({ strayRows: 1 }, /names purchase op-99, which is not in the history\.$/),
};

const CLEAN: Readonly<Record<string, Expectation>> = {
  "clean-lock": safe,
  "clean-holds-that-touch": safe,
  "clean-shared-hold": safe,
  "clean-lease-lost-and-no-write": safe,
  "clean-fenced-overlap": { ...safe, doubts: ["fencedOverlap", "refusedStaleWrite"], sentence: /failed to write 4/ },
  "clean-two-hosts-whose-clocks-differ": safe,
  "clean-quantities": safe,
  "clean-atomic-sold-out-while-the-last-sale-runs": safe,
  "clean-request-at-the-instant-of-another-answer": safe,
  "clean-unknown-that-did-sell": safe,
  "clean-unknown-that-did-not": safe,
  "clean-unit-given-back": safe,
  "clean-repeated-key": safe,
  "clean-rows-that-do-not-name-their-purchase": safe,
  "clean-fault-healed-in-time": safe,
};

const DOUBTFUL: Readonly<Record<string, Expectation>> = {
  "inconclusive-one-at-a-time": inconclusive(["noContention"]),
  "inconclusive-waiters-not-served-after-a-fault": inconclusive(["unservedWaiters", "unservedWaiters"]),
  "inconclusive-no-waiter-served-while-waiters-come-and-go": inconclusive(
    ["unservedWaiters"],
    /^No waiter was served within/,
  ),
  "broken-no-run": inconclusive(["missingRun"]),
  "broken-no-end": inconclusive(["missingEnd"]),
  "broken-dropped": inconclusive(["droppedOperations"]),
  "broken-not-json": inconclusive(["unreadableLine"], /^Line 3 is not JSON\.$/),
  "broken-time-as-number": inconclusive(["unreadableLine"], /^Line 3 .* grantedNs: .*expected string, received number/),
  "broken-unknown-outcome": inconclusive(["unreadableLine"], /^Line 3 .* outcome: /),
  "broken-repeated-op-id": inconclusive(["duplicateOpId"], /^Line 5 repeats the opId op-2\.$/),
  "broken-times-out-of-order": inconclusive(
    ["timesOutOfOrder"],
    /^Line 3 puts committedNs of op-2 before its writeNs\.$/,
  ),
  "broken-torn-last-line": inconclusive(["unreadableLine", "missingEnd"], /^Line 4 is not JSON\.$/),
  "broken-two-histories": inconclusive(
    ["misplacedLine", "misplacedLine", "misplacedLine", "misplacedLine"],
    /^Line 5 is a second line of type run/,
  ),
  "broken-operation-after-the-end": inconclusive(
    ["misplacedLine"],
    /^Line 5 has type op but comes after the end line\.$/,
  ),
  "broken-order-listed-twice": inconclusive(["unreadableLine", "missingEnd"], /^Line 4 lists an order twice\.$/),
  "broken-empty": inconclusive(["missingRun", "missingEnd"]),
  "broken-binary": inconclusive([...Array<FindingKind>(9).fill("unreadableLine"), "missingRun", "missingEnd"]),
};

export const EXPECTED: Readonly<Record<string, Expectation>> = { ...PLANTED, ...CLEAN, ...DOUBTFUL };
