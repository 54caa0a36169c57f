import { cpus, release, totalmem, type } from "node:os";
import type { LossSeries } from "./loss-measurement";

export interface LossReport {
  readonly series: readonly LossSeries[];
  readonly repeats: number;
  readonly ttlMs: number;
  readonly commit: string;
}

/** The text of docs/loss-to-signal.md. */
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
    "The measurement ends a hold on its real server. It measures the time from that command to the abort of `grant.signal`, on one",
    "monotonic clock. Each cell shows the median (minimum to maximum).",
    "",
    "| strategy | how the hold is lost | time to signal, ms | compared with | share | limit by design |",
    "|---|---|---|---|---|---|",
    ...series.flatMap((one) => row(one) ?? []),
    "",
    ...NOTES,
    "",
  ].join("\n");
}

const NOTES = [
  "By design, a holder renews its lease every third of its length, and the answer reports the loss. A ZooKeeper client drops its",
  "connection after two thirds of the session without an answer, so the holder is signalled before the server grants the lock again;",
  "here the time counts from the moment the connection stopped carrying data. A PostgreSQL connection that ends reports that itself.",
  "Network delay and machine load add to these times. The conformance suite checks every lock against its limit, with a tolerance.",
  "",
  "Not in the table: locks without an owner, whose holders never check the lease, and locks that work only within one process.",
];

function row({ strategyId, losses }: LossSeries): string | null {
  const [first] = losses;
  if (!first) return null;
  const { how, against, againstMs } = first;
  const times = losses.map(({ toSignalMs }) => toSignalMs).toSorted((left, right) => left - right);
  const middle = Math.floor((times.length - 1) / 2);
  // For an even number of times, the mean of the two in the middle.
  const medianMs = ((times[middle] ?? 0) + (times[times.length - 1 - middle] ?? 0)) / 2;
  const range = `${toMs(times[0])} to ${toMs(times.at(-1))}`;
  const measuredShare = `${Math.round((100 * medianMs) / againstMs)} %`;
  const limit = first.share === 0 ? "at once" : `${Math.round(100 * first.share)} %`;
  const cells = [`\`${strategyId}\``, how, `${toMs(medianMs)} (${range})`, `${against}, ${againstMs} ms`];
  return `| ${[...cells, measuredShare, limit].join(" | ")} |`;
}

/** Times below 10 ms get one decimal. */
function toMs(timeMs = 0): string {
  return timeMs.toFixed(timeMs < 10 ? 1 : 0);
}
