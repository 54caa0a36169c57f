import type { Agent } from "node:http";
import { Purchase, type Sale, warmUp } from "./purchase";
import type { Tally } from "./tally";

/** The two ways in which buyers arrive: all at one instant, or one by one at a rate. */

export interface Arrivals {
  readonly sale: Sale;
  readonly pool: Agent;
  readonly tally: Tally;
  /** Stops sending. Purchases in flight are still awaited. */
  readonly signal: AbortSignal;
}

/** Time between the last connection and the start, for the nodes to finish accepting connections. */
const SETTLE_MS = 100;
const CONNECT_LIMIT_MS = 10_000;

/** All buyers connect first, and then send at one instant. */
export async function openDoors(arrivals: Arrivals, buyers: { count: number; connections: number }): Promise<void> {
  const { sale, pool, tally } = arrivals;
  await warmUp(sale, pool, buyers.connections);
  const purchases = Array.from({ length: buyers.count }, (_, buyer) => new Purchase(sale, pool, buyer));
  // A purchase beyond the size of the pool gets a connection only after another purchase has ended.
  const connected = Promise.all(purchases.slice(0, buyers.connections).map((purchase) => purchase.connected()));
  await within(connected, CONNECT_LIMIT_MS);
  await sleep(SETTLE_MS);
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
  /** A purchase that is due while this many are in flight is dropped and counted. */
  readonly maxInFlight: number;
}

/** One purchase every 1/rate seconds, even if earlier ones have no answer yet. */
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
    timer = setTimeout(
      () =>
        reject(
          new Error(`Not all buyers could connect within ${limitMs / 1_000} s. Check that every store node is up.`),
        ),
      limitMs,
    );
  });
  try {
    await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
