import { cpus, release, totalmem, type } from "node:os";
import type { StrategyTraits } from "../../lib/locks/types";
import type { LossMeasurement } from "../../tests/conformance/suite/measure-loss";

export interface LossSeries {
  readonly strategyId: string;
  readonly losses: readonly LossMeasurement[];
}

export interface LossReport {
  readonly series: readonly LossSeries[];
  readonly repeats: number;
  readonly ttlMs: number;
  readonly commit: string;
}

/** Locks whose holder has something to lose, and looks. */
export function isMeasurable({ kind, ownerless, expiryClock }: StrategyTraits): boolean {
  return kind === "lock" && !ownerless && expiryClock !== "none";
}

/** docs/loss-to-signal.md. */
export function lossPage({ series, repeats, ttlMs, commit }: LossReport): string {
  const processors = cpus();
  const memoryGb = Math.round(totalmem() / 1024 ** 3);
  return [
    "# From the loss of a hold to `grant.signal`",
    "",
    "Written by `npm run lab -- loss-to-signal`; do not edit by hand.",
    "",
    `- ${repeats} losses of each, under a lease of ${ttlMs} ms`,
    `- Version: ${commit}, ${new Date().toISOString().slice(0, 10)}`,
    `- Machine: ${processors.length} x ${processors[0]?.model.trim() ?? "unknown"}, ${memoryGb} GB, ${type()} ${release()}`,
    "",
    "The hold is taken away on its real server. The time runs from the command that does it to the abort of `grant.signal`, on one",
    "monotonic clock. A cell is the median, then the smallest and the largest.",
    "",
    "| strategy | how the hold is lost | told after, ms | of | share | by design at most |",
    "|---|---|---|---|---|---|",
    ...series.flatMap((one) => row(one) ?? []),
    "",
    ...NOTES,
    "",
  ].join("\n");
}

const NOTES = [
  "By design: a lease is renewed every third of its length, and the answer says that it is gone. A ZooKeeper link is given up",
  "after two thirds of the session without an answer, so that the holder is told before the server gives its lock away; here",
  "the loss is counted from the moment the link fell silent. A PostgreSQL connection that is ended says so itself. On top come",
  "the network and a busy machine. The conformance suite holds every lock to its share, with slack.",
  "",
  "Not in the table: locks without an owner, whose holders never look again (docs/decisions/071-an-unwatched-lease.md), and",
  "locks that reach no further than their process.",
];

function row({ strategyId, losses }: LossSeries): string | null {
  const [first] = losses;
  if (!first) return null;
  const { breaker, againstMs } = first;
  const times = losses.map(({ toSignalMs }) => toSignalMs).toSorted((left, right) => left - right);
  const middle = Math.floor((times.length - 1) / 2);
  // Of an even number, the mean of the two in the middle.
  const medianMs = ((times[middle] ?? 0) + (times[times.length - 1 - middle] ?? 0)) / 2;
  const spread = `${toMs(times[0])} to ${toMs(times.at(-1))}`;
  const share = `${Math.round((100 * medianMs) / againstMs)} %`;
  const bound = breaker.share === 0 ? "at once" : `${Math.round(100 * breaker.share)} %`;
  const cells = [
    `\`${strategyId}\``,
    breaker.how,
    `${toMs(medianMs)} (${spread})`,
    `${breaker.against}, ${againstMs} ms`,
  ];
  return `| ${[...cells, share, bound].join(" | ")} |`;
}

/** Short times with a digit behind the point. */
function toMs(timeMs = 0): string {
  return timeMs.toFixed(timeMs < 10 ? 1 : 0);
}
