import type { HistoryOpLine } from "@/lib/history/types";
import type { RunSample } from "@/lib/runs/run-sample";
import type { LatencyCurve } from "../latency-curves";

/** CSV (RFC 4180) with a header. docs/exports.md describes the columns. */

type Value = string | number | boolean | null | undefined;

function field(value: Value): string {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function line(values: readonly Value[]): string {
  return `${values.map(field).join(",")}\r\n`;
}

function table<T>(rows: readonly T[], columns: Readonly<Record<string, (row: T) => Value>>): string {
  const readers = Object.values(columns);
  return [line(Object.keys(columns)), ...rows.map((row) => line(readers.map((read) => read(row))))].join("");
}

/** One row per sample, about four per second. */
export function samplesCsv(samples: readonly RunSample[]): string {
  return table(samples, {
    seq: ({ seq }) => seq,
    at_ms: ({ atMs }) => atMs,
    stock_left: ({ stockLeft }) => stockLeft,
    orders: ({ orders }) => orders,
    oversold: ({ oversold }) => oversold,
    requests: ({ counts }) => counts.requests,
    sold: ({ counts }) => counts.sold,
    sold_out: ({ counts }) => counts.soldOut,
    contended: ({ counts }) => counts.contended,
    rejected: ({ counts }) => counts.rejected,
    errors: ({ counts }) => counts.errors,
    unknown: ({ counts }) => counts.unknown,
    sold_per_second: ({ soldPerSecond }) => soldPerSecond,
    completed_per_second: ({ completedPerSecond }) => completedPerSecond,
    in_flight: ({ inFlight }) => inFlight,
    waiters: ({ waiters }) => waiters,
    node_p50_ms: ({ latencyMs }) => latencyMs.p50,
    node_p90_ms: ({ latencyMs }) => latencyMs.p90,
    node_p95_ms: ({ latencyMs }) => latencyMs.p95,
    node_p99_ms: ({ latencyMs }) => latencyMs.p99,
    node_p999_ms: ({ latencyMs }) => latencyMs.p999,
    node_max_ms: ({ latencyMs }) => latencyMs.max,
    pool_wait_median_ms: ({ phaseMediansMs }) => phaseMediansMs.poolWait,
    wait_median_ms: ({ phaseMediansMs }) => phaseMediansMs.wait,
    hold_median_ms: ({ phaseMediansMs }) => phaseMediansMs.hold,
    commit_median_ms: ({ phaseMediansMs }) => phaseMediansMs.commit,
    node_interval_p50_ms: ({ intervalLatencyMs }) => intervalLatencyMs?.p50,
    node_interval_p95_ms: ({ intervalLatencyMs }) => intervalLatencyMs?.p95,
    node_interval_p99_ms: ({ intervalLatencyMs }) => intervalLatencyMs?.p99,
  });
}

/** One row per point of the latency curves of nodes and buyers. */
export function percentilesCsv(curves: readonly LatencyCurve[]): string {
  const rows = curves.flatMap(({ id, points }) => points.map((point) => ({ id, ...point })));
  return table(rows, {
    of: ({ id }) => id,
    percentile: ({ share }) => Number((share * 100).toFixed(6)),
    ms: ({ ms }) => ms,
  });
}

const TIMES = {
  invoked_ms: "invokedNs",
  wait_ms: "waitNs",
  granted_ms: "grantedNs",
  read_ms: "readNs",
  write_ms: "writeNs",
  committed_ms: "committedNs",
  released_ms: "releasedNs",
  lease_lost_ms: "leaseLostNs",
  answered_ms: "answeredNs",
} as const satisfies Record<string, keyof HistoryOpLine>;

/** One row per purchase, ordered by invocation; times count from the first purchase on the same host. */
export function operationsCsv(operations: readonly HistoryOpLine[]): string {
  const firstOn = new Map<string, bigint>();
  for (const { host, invokedNs } of operations) {
    const known = firstOn.get(host);
    const at = BigInt(invokedNs);
    if (known === undefined || at < known) firstOn.set(host, at);
  }
  const times = Object.entries(TIMES).map(
    ([name, key]) => [name, (op: HistoryOpLine) => millisSince(firstOn.get(op.host) ?? 0n, op[key])] as const,
  );
  const ordered = operations
    .map((op) => ({ op, afterNs: BigInt(op.invokedNs) - (firstOn.get(op.host) ?? 0n) }))
    .sort((a, b) => (a.afterNs < b.afterNs ? -1 : a.afterNs > b.afterNs ? 1 : 0))
    .map(({ op }) => op);
  return table(ordered, {
    op_id: ({ opId }) => opId,
    node: ({ node }) => node,
    host: ({ host }) => host,
    buyer_id: ({ buyerId }) => buyerId,
    quantity: ({ quantity }) => quantity,
    outcome: ({ outcome }) => outcome,
    order_id: ({ orderId }) => orderId,
    holder_id: ({ holderId }) => holderId,
    fencing_token: ({ fencingToken }) => fencingToken,
    read_value: ({ readValue }) => readValue,
    written_value: ({ writtenValue }) => writtenValue,
    write_accepted: ({ writeAccepted }) => writeAccepted,
    ...Object.fromEntries(times),
  });
}

/** Nanoseconds as milliseconds with six decimals, computed as bigint because a double loses precision. */
function millisSince(zeroNs: bigint, atNs: string | undefined): string {
  if (atNs === undefined) return "";
  const ns = BigInt(atNs) - zeroNs;
  const sign = ns < 0n ? "-" : "";
  const digits = (ns < 0n ? -ns : ns).toString().padStart(7, "0");
  return `${sign}${digits.slice(0, -6)}.${digits.slice(-6)}`;
}
