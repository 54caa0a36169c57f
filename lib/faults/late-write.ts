import type { Operation } from "../history/operation";
import { systemClock } from "../locks/clock";
import type { StrategyTraits } from "../locks/types";
import { withDeadline } from "../locks/with-deadline";
import { LONGEST_PAUSE_MS } from "../node/node-stops";
import { elapsedMs, nowNs } from "../services/monotonic";
import { durationText, settingText } from "../services/number-text";
import { SETTLE_LIMIT_MS } from "../stock/settle-statement";
import { MIN_STATEMENT_MS } from "../stock/stock-store";
import { keepsCounter } from "../stock/stock-strategies";
import { type Expectation, type FaultContext, FaultMissed } from "./fault";
import { arrivals } from "./matrix-sale";
import { type NetworkEffect, networkFault, ofOneNode } from "./network-fault";
import { isExtendedByWaiters } from "./orphaned-lock";
import type { TcpProxy } from "./proxy/tcp-proxy";
import type { ToxicKind } from "./proxy/toxic";
import { PURCHASE_WRITE } from "./purchase-write";

/** From the write until its client gives it up, if the wait of the purchase is short. */
const GIVE_UP_MS = MIN_STATEMENT_MS + SETTLE_LIMIT_MS;
/** Beyond the lease: time for the next holder to read, before the late write arrives. */
const MARGIN_MS = 800;
/** The answer to a write that was delivered. It may wait for the row. */
const ANSWER_LIMIT_MS = 5_000;

/** PostgreSQL's wire format: the end of a statement with its number of rows, or the code of an error. */
const ANSWER = /((?:INSERT|UPDATE|DELETE|SELECT) [\d ]+)\0|C([0-9A-Z]{5})\0M/;

/**
 * A write of a holder stays in the network until its client has given it up and its lock has gone to the next holder. Then PostgreSQL
 * gets it, as it would get bytes that a broken link had in flight.
 */
export const lateWrite = networkFault({
  id: "late-write",
  does: "Holds one write of a purchase back between a store node and PostgreSQL for longer than its client waits and its lease lasts, and then delivers it.",
  proof:
    "how long the proxy held the write back, and PostgreSQL's answer to it when it was delivered; before that, its purchase was answered without a unit, and a lock with a lease was granted to another purchase",
  durationMs: GIVE_UP_MS,
  defaultDurationMs: ({ ttlMs }) => Math.min(LONGEST_PAUSE_MS, GIVE_UP_MS + ttlMs + MARGIN_MS),
  servers: ["postgres"],
  whyNotApplicable: () => null,
  expectationOf,
  matrixSale: (traits) => arrivals(traits, { rate: 20, durationMs: 5_200, waitTimeoutMs: 2_000, faultAtMs: 200 }),
  unseen: "no purchase was written on the node while it lasted",
  chosen: ofOneNode,
  apply: async (proxy) => holdOneWrite(proxy),

  whyUnproven({ ops }, { fromNs, toNs }, { traits }) {
    const at = (op: Operation, ns = Infinity) => (ns === Infinity ? toNs : op.clock.originNs + BigInt(Math.round(ns)));
    const givenUp = ops.find((op) => isGivenUp(op) && at(op, op.answeredNs) > fromNs && at(op, op.answeredNs) < toNs);
    if (!givenUp)
      return "the write arrived before its purchase was answered; choose a longer fault or a shorter wait (--wait-timeout-ms 2000)";
    const fromAnswerNs = at(givenUp, givenUp.answeredNs);
    const isGranted = ops.some((op) => at(op, op.grantedNs) > fromAnswerNs && at(op, op.grantedNs) < toNs);
    if (isGranted || !isGrantedAgain(traits)) return null;
    return "no other purchase got the lock before the write arrived; choose a longer fault";
  },
});

function isGivenUp({ writeNs, outcome }: Operation): boolean {
  return writeNs !== undefined && (outcome === "unknown" || outcome === "error");
}

/** Whether the lock goes to another buyer while the write is held back. */
function isGrantedAgain(traits: StrategyTraits): boolean {
  return traits.kind === "lock" && traits.family !== "sql" && !isExtendedByWaiters(traits);
}

function expectationOf({ traits, ttlMs, fencing }: FaultContext, durationMs: number): Expectation {
  if (traits.kind === "atomic") {
    const reason = keepsCounter(traits)
      ? "The units stay in the journal until the outcome of the write is known, and the write itself has a condition."
      : "The condition is part of the write, so a write that takes effect late still sells only what is left.";
    return { effect: "safe", reason };
  }
  if (traits.family === "sql") {
    return {
      effect: "safe",
      reason: "The write and the lock belong to one transaction, which ends without a commit when its client has gone.",
    };
  }
  if (isExtendedByWaiters(traits)) {
    return {
      effect: "blocked",
      reason:
        "The holder does not release a lock whose write may still take effect, and each poll of a waiter extends it.",
    };
  }
  const keptMs = traits.ownerless && traits.expiryClock !== "none" ? ttlMs : GIVE_UP_MS + ttlMs;
  if (durationMs <= keptMs) {
    return {
      effect: "safe",
      reason: `The lock stays taken for ${settingText(keptMs)}, longer than the write is held back.`,
    };
  }
  if (traits.fencingSource !== null && fencing) {
    return { effect: "safe", reason: "PostgreSQL rejects the late write, because its fencing token is too old." };
  }
  return {
    effect: "unsafe",
    reason:
      "A holder cannot cancel a write that has not arrived. It keeps its lock for one more lease, and the write arrives after that.",
  };
}

interface HeldWrite {
  readonly connection: object;
  readonly bytes: number;
  readonly fromNs: bigint;
}

/** Holds the first write of a purchase and all that follows on its connection, until the end. */
function holdOneWrite(proxy: TcpProxy): () => Promise<NetworkEffect> {
  let held: HeldWrite | null = null;
  let noteAnswer = (_text: string) => {};
  const answer = new Promise<string>((resolve) => {
    noteAnswer = resolve;
  });

  const statements: ToxicKind = {
    type: "write_hold",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        if (held === null && PURCHASE_WRITE.test(chunk.data.toString("latin1"))) {
          held = { connection: flow.connection, bytes: chunk.data.length, fromNs: nowNs() };
        }
        // What is not forwarded waits until the toxic is removed, which passes it on.
        if (held?.connection === flow.connection) return;
        flow.forward();
      }
      flow.end();
    },
  };

  const replies: ToxicKind = {
    type: "answer_watch",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        const [, rows, error] = ANSWER.exec(chunk.data.toString("latin1")) ?? [];
        if (held?.connection === flow.connection && (rows ?? error)) noteAnswer(rows ?? `with error ${error}`);
        flow.forward();
      }
      flow.end();
    },
  };

  const settings = { toxicity: 1, attributes: {} };
  const hold = {
    ...settings,
    name: statements.type,
    kind: statements as ToxicKind<unknown>,
    stream: "upstream",
  } as const;
  const watch = { ...settings, name: replies.type, kind: replies as ToxicKind<unknown>, stream: "downstream" } as const;
  const added = { hold: proxy.addToxic(hold), watch: proxy.addToxic(watch) };
  return async () => {
    const heldMs = held === null ? 0 : elapsedMs(held.fromNs);
    proxy.removeToxic(added.hold);
    const answered = held && (await withDeadline(systemClock, answer, { limitMs: ANSWER_LIMIT_MS }));
    proxy.removeToxic(added.watch);
    if (held === null || answered === null) return { connections: 0, bytes: 0 };
    if (answered.status !== "value") throw new FaultMissed("PostgreSQL did not answer the write that was held back");
    const details = `the proxy held a write back for ${durationText(heldMs)}, and PostgreSQL answered it ${answered.value}`;
    return { connections: 1, bytes: held.bytes, details };
  };
}
