import type { Agent } from "node:http";
import { Purchase, type Sale, warmUp } from "./purchase";
import type { Tally } from "./tally";

/** The two ways buyers arrive: all at one instant, or one by one at a rate. */

export interface Arrivals {
  readonly sale: Sale;
  readonly pool: Agent;
  readonly tally: Tally;
  /** Stops sending; what is in flight is still waited for. */
  readonly signal: AbortSignal;
}

/** Between the last buyer being connected and the doors opening: lets the nodes finish accepting. */
const HUSH_MS = 100;
const CONNECT_LIMIT_MS = 10_000;

/** All buyers connect, wait at the door, and send at one instant. */
export async function openDoors(arrivals: Arrivals, buyers: { count: number; connections: number }): Promise<void> {
  const { sale, pool, tally } = arrivals;
  await warmUp(sale, pool, buyers.connections);
  const purchases = Array.from({ length: buyers.count }, (_, buyer) => new Purchase(sale, pool, buyer));
  // Beyond the pool's size a purchase gets its connection only when another is through.
  const connected = Promise.all(purchases.slice(0, buyers.connections).map((purchase) => purchase.connected()));
  await within(connected, CONNECT_LIMIT_MS);
  await sleep(HUSH_MS);
  if (arrivals.signal.aborted) return destroy(pool);
  const doorsOpenAtMs = performance.now();
  const answers = purchases.map(async (purchase) => {
    tally.addStart(performance.now() - doorsOpenAtMs);
    purchase.send();
    tally.addAnswer(await purchase.answer, doorsOpenAtMs);
  });
  await Promise.all(answers);
  destroy(pool);
}

export interface Schedule {
  readonly ratePerSecond: number;
  readonly durationMs: number;
  /** A purchase that comes due while this many are in flight is dropped, and the drop is counted. */
  readonly maxInFlight: number;
}

/** One purchase every 1/rate seconds, whether or not earlier ones were answered. */
export async function arriveAtRate(arrivals: Arrivals, schedule: Schedule): Promise<void> {
  const { sale, pool, tally } = arrivals;
  const total = Math.floor((schedule.ratePerSecond * schedule.durationMs) / 1_000);
  const gapMs = 1_000 / schedule.ratePerSecond;
  const inFlight = new Set<Promise<void>>();
  const beganAtMs = performance.now();
  for (let next = 0; next < total && !arrivals.signal.aborted; ) {
    const nowMs = performance.now();
    for (; next < total && beganAtMs + next * gapMs <= nowMs; next += 1) {
      if (inFlight.size >= schedule.maxInFlight) {
        tally.addDropped();
        continue;
      }
      const intendedAtMs = beganAtMs + next * gapMs;
      const purchase = new Purchase(sale, pool, next);
      tally.addStart(performance.now() - intendedAtMs);
      purchase.send();
      const done = purchase.answer.then((answer) => {
        tally.addAnswer(answer, intendedAtMs);
        inFlight.delete(done);
      });
      inFlight.add(done);
    }
    await sleep(Math.max(0, beganAtMs + next * gapMs - performance.now()));
  }
  await Promise.all(inFlight);
  destroy(pool);
}

function destroy(pool: Agent): void {
  pool.destroy();
}

function sleep(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

async function within(work: Promise<unknown>, limitMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not all buyers were connected within ${limitMs / 1_000} s`)), limitMs);
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
