import type { FindingKind, ViolationCounts } from "../../lib/history/finding";
import type { Verdict } from "../../lib/history/verdict";

/** What a hand-made history must give: exactly these violations, and these doubts or remarks beside them. */
export interface Expectation {
  readonly verdict: Verdict;
  readonly violations?: Partial<ViolationCounts>;
  readonly besides?: readonly FindingKind[];
  /** What some finding says. */
  readonly says?: RegExp;
}

const unsafe = (violations: Partial<ViolationCounts>, says?: RegExp): Expectation => ({
  verdict: "unsafe",
  violations,
  ...(says ? { says } : {}),
});
const safe: Expectation = { verdict: "safe" };
const inconclusive = (besides: readonly FindingKind[], says?: RegExp): Expectation => ({
  verdict: "inconclusive",
  besides,
  ...(says ? { says } : {}),
});

/** One violation is planted in each; some show in more than one way. */
const PLANTED: Readonly<Record<string, Expectation>> = {
  "oversold-one-unit-to-two": unsafe(
    { oversold: 1, lostUpdates: 1, overlappingHolds: 1 },
    /^node-2 read 1, node-1 read 1, both wrote 0\.$/,
  ),
  "oversold-below-zero": unsafe({ oversold: 1, negativeStock: 1 }, /buyer-2 bought the first that cannot be delivered/),
  "oversold-beside-dropped-operations": {
    ...unsafe({ oversold: 1, lostUpdates: 1 }, /which is not recorded/),
    besides: ["droppedOperations"],
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
  "undersold-on-the-counter-beside-the-row": unsafe({ undersold: 2 }),
  "negative-stock-covered-up": unsafe({ negativeStock: 1 }, /^node-3 read 1 and wrote -1\.$/),
  "duplicate-claims": unsafe({ duplicateClaims: 1 }, /^greedy has 2 where 1 is allowed\.$/),
  "duplicate-claims-by-quantity": unsafe({ duplicateClaims: 1 }),
  "overlapping-holds": unsafe({ overlappingHolds: 1 }, /^node-2 entered while node-1 was still inside: /),
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
    besides: ["noContention"],
  },
  "overlapping-holds-with-tokens-nobody-checks": unsafe({ overlappingHolds: 1 }),
  "overlapping-holds-beside-a-torn-line": {
    ...unsafe({ overlappingHolds: 1 }, /^Line 4 is not JSON\.$/),
    besides: ["unreadableLine", "missingEnd"],
  },
  "fencing-order-descending": unsafe({ fencingOrder: 1 }, /^node-2 was granted fencing token 7 after .* granted 8\.$/),
  "fencing-order-repeated": unsafe({ fencingOrder: 1 }, /were both granted fencing token 1\.$/),
  "fencing-order-repeated-across-hosts": { ...unsafe({ fencingOrder: 1 }), besides: ["noContention"] },
  "stale-write-after-a-newer-read": unsafe({ staleWrites: 1, overlappingHolds: 1 }),
  "stale-write-hidden-behind-a-later-one": unsafe(
    { staleWrites: 1, overlappingHolds: 1 },
    /^node-1 wrote 3 with fencing token 1 after node-2 had come with 2, and it was accepted\.$/,
  ),
  "stale-write-across-hosts-by-token-and-value": {
    ...unsafe({ staleWrites: 1, overlappingHolds: 1 }),
    besides: ["noContention"],
  },
  "stale-write-after-the-lease-was-lost": unsafe({ staleWrites: 1 }, /after it had lost its lease/),
  "stale-write-after-the-release": unsafe({ staleWrites: 1 }, /after it had given the lock back/),
  "ticket-sold-after-sold-out": unsafe(
    { ticketOrder: 1 },
    /^node-3 sold to buyer-3, asked only after node-2 had told buyer-2 "sold out"\.$/,
  ),
  "ticket-sold-after-sold-out-beside-an-unknown": unsafe({ ticketOrder: 1 }),
  "ticket-refused-too-early": unsafe({ ticketOrder: 1 }, /"sold out" when no more than 1 of 2 could have been sold/),
  "ticket-order-against-real-time": unsafe({ ticketOrder: 1 }),
  "ticket-sold-twice-in-turn": unsafe({ ticketOrder: 1, lostUpdates: 1 }),
  "acknowledged-without-row": unsafe({ acknowledgedRows: 1 }, /was told "sold" and has no order\.$/),
  "acknowledged-twice-for-one-row": unsafe({ acknowledgedRows: 1 }, /order o1, which another purchase made/),
  "acknowledged-with-two-rows": unsafe({ acknowledgedRows: 1 }, /has 2 orders \(o2, o3\)/),
  "acknowledged-with-a-row-of-another-quantity": unsafe({ acknowledgedRows: 1 }),
  "acknowledged-with-a-row-of-another-buyer": unsafe({ acknowledgedRows: 1 }),
  "acknowledged-with-another-orders-number": unsafe(
    { acknowledgedRows: 1 },
    /told of order o9, and the database has o2/,
  ),
  "repeated-key-sold-twice": unsafe({ acknowledgedRows: 1 }),
  "unknown-sold-twice": unsafe({ unknownRows: 1 }, /never learned the outcome and has 2 orders\.$/),
  "refused-with-a-row": unsafe({ refusedRows: 1 }, /was answered "contended" and has order o1\.$/),
  "error-with-a-row": unsafe({ refusedRows: 1 }),
  "row-nobody-asked-for": unsafe({ strayRows: 1 }, /names op-99, which is not among the purchases/),
};

const CLEAN: Readonly<Record<string, Expectation>> = {
  "clean-lock": safe,
  "clean-holds-that-touch": safe,
  "clean-shared-hold": safe,
  "clean-lease-lost-and-given-up": safe,
  "clean-fenced-overlap": { ...safe, besides: ["fencedOverlap"], says: /was not let write 4/ },
  "clean-two-hosts-whose-clocks-differ": safe,
  "clean-quantities": safe,
  "clean-atomic-sold-out-while-the-last-sale-runs": safe,
  "clean-asked-at-the-instant-of-another-answer": safe,
  "clean-unknown-that-did-sell": safe,
  "clean-unknown-that-did-not": safe,
  "clean-unit-put-back": safe,
  "clean-repeated-key": safe,
  "clean-rows-that-do-not-name-their-purchase": safe,
  "clean-fault-healed-in-time": safe,
};

const DOUBTFUL: Readonly<Record<string, Expectation>> = {
  "inconclusive-one-at-a-time": inconclusive(["noContention"]),
  "inconclusive-waiters-not-served-after-a-fault": inconclusive(["unservedWaiters", "unservedWaiters"]),
  "inconclusive-nobody-served-though-waiters-come-and-go": inconclusive(["unservedWaiters"], /nobody was served/),
  "broken-no-run": inconclusive(["missingRun"]),
  "broken-no-end": inconclusive(["missingEnd"]),
  "broken-dropped": inconclusive(["droppedOperations"]),
  "broken-not-json": inconclusive(["unreadableLine"], /^Line 3 is not JSON\.$/),
  "broken-time-as-number": inconclusive(["unreadableLine"], /^Line 3 .* grantedNs: .*expected string, received number/),
  "broken-unknown-outcome": inconclusive(["unreadableLine"], /^Line 3 .* outcome: /),
  "broken-repeated-op-id": inconclusive(["duplicateOpId"], /^Line 5 repeats the opId op-2\.$/),
  "broken-times-out-of-order": inconclusive(
    ["timesOutOfOrder"],
    /^Line 3 says that op-2 has its committedNs before its writeNs\.$/,
  ),
  "broken-torn-last-line": inconclusive(["unreadableLine", "missingEnd"], /^Line 4 is not JSON\.$/),
  "broken-two-histories": inconclusive(
    ["misplacedLine", "misplacedLine", "misplacedLine", "misplacedLine"],
    /^Line 5 is a second line of type run/,
  ),
  "broken-operation-after-the-end": inconclusive(["misplacedLine"], /^Line 5 is of type op and comes after the end\.$/),
  "broken-order-listed-twice": inconclusive(["unreadableLine", "missingEnd"], /^Line 4 lists an order twice\.$/),
  "broken-empty": inconclusive(["missingRun", "missingEnd"]),
  "broken-binary": inconclusive([...Array<FindingKind>(9).fill("unreadableLine"), "missingRun", "missingEnd"]),
};

export const EXPECTED: Readonly<Record<string, Expectation>> = { ...PLANTED, ...CLEAN, ...DOUBTFUL };
