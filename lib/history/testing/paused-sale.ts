import type { History } from "../history";
import { toFault } from "../operation";
import { history, type OpFields, op, rowOf } from "./make-history";

const MS = 1_000_000;
const at = (ms: number) => ms * MS;

/** How many purchases are sold while the holder is paused, and how many after its write. */
export const SOLD_MEANWHILE = 5;
const SOLD_LATER = 3;

export interface PausedSaleOptions {
  readonly fenced: boolean;
  /** The index of a sale during the pause. */
  readonly confirmedLate?: number;
}

const CONFIRMED_LATE = {
  committedNs: String(at(12_990)),
  releasedNs: String(at(12_991)),
  answeredNs: String(at(12_992)),
};

/**
 * A sale of 100 units in which the first holder is paused from 20 ms to 12,520 ms, after its last lease check and before
 * its write. Its lease of 5 s ends meanwhile. The resource accepts its write, or refuses it if it checks tokens. The reply to one of
 * the sales in between may reach its node only at the end.
 */
export function pausedSale({ fenced, confirmedLate }: PausedSaleOptions): History {
  const meanwhile = Array.from({ length: SOLD_MEANWHILE }, (_, index) => ({
    ...sale(5_100 + index * 100, 100 - index, index + 2),
    ...(index === confirmedLate ? CONFIRMED_LATE : {}),
  }));
  const later = Array.from({ length: SOLD_LATER }, (_, index) => {
    const left = fenced ? 100 - SOLD_MEANWHILE : 99;
    return sale(12_600 + index * 100, left - index, SOLD_MEANWHILE + index + 2);
  });
  const write: OpFields = fenced
    ? { writeAccepted: false, outcome: "error" }
    : { writeAccepted: true, committedNs: at(12_522), outcome: "sold", orderId: "late" };
  const paused = op({
    ...{ opId: "paused", node: "node-1", buyerId: "ann", holderId: "h-1", ...(fenced ? { fencingToken: 1 } : {}) },
    ...{ waitNs: at(1), grantedNs: at(10), readNs: at(12), readValue: 100, leaseUntilNs: at(5_010) },
    ...{ writeNs: at(12_521), writtenValue: 99, releasedNs: at(12_523), answeredNs: at(12_524) },
    ...write,
  });
  const ops = [paused, ...meanwhile, ...later];
  const sold = [...meanwhile, paused, ...later].filter(({ outcome }) => outcome === "sold");
  const final = fenced ? 100 - sold.length : 99 - SOLD_LATER;
  const fault = { faultId: "pause-holder", fromNs: String(at(20)), toNs: String(at(12_520)), stoppedNode: "node-1" };
  return history({
    ops,
    run: { initial: 100 },
    end: { final, orders: sold.map((line) => rowOf(line, line.orderId)) },
    faults: [toFault(fault)],
  });

  function sale(fromMs: number, readValue: number, token: number) {
    return op({
      ...{ opId: `sale-${token}`, node: "node-2", buyerId: `buyer-${token}`, holderId: `h-${token}` },
      ...(fenced ? { fencingToken: token } : {}),
      ...{ waitNs: at(2), grantedNs: at(fromMs), readNs: at(fromMs + 2), readValue, leaseUntilNs: at(fromMs + 5_000) },
      ...{ writeNs: at(fromMs + 20), writtenValue: readValue - 1, writeAccepted: true, committedNs: at(fromMs + 22) },
      ...{ releasedNs: at(fromMs + 23), answeredNs: at(fromMs + 24), orderId: `o-${token}` },
    });
  }
}
