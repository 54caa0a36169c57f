import type { ViolationKind } from "../history/finding";
import { durationText, formatCount, plural } from "../services/number-text";
import type { CellResult, MatrixCell, Measured } from "./fault-matrix";

/** The words of a cell of the fault matrix. */

const NOUNS: Readonly<Record<ViolationKind, readonly [one: string, many: string]>> = {
  oversold: ["unit oversold", "units oversold"],
  lostUpdates: ["lost update", "lost updates"],
  undersold: ["unit lost", "units lost"],
  counterDrift: ["unit of drift", "units of drift"],
  negativeStock: ["unit below zero", "units below zero"],
  duplicateClaims: ["duplicate claim", "duplicate claims"],
  overlappingHolds: ["overlapping hold", "overlapping holds"],
  staleWrites: ["stale write", "stale writes"],
  fencingOrder: ["token out of order", "tokens out of order"],
  ticketOrder: ["impossible read", "impossible reads"],
  acknowledgedRows: ["sale without its order", "sales without their order"],
  failoverLosses: ["order lost by the failover", "orders lost by the failover"],
  unknownRows: ["unanswered purchase with two orders", "unanswered purchases with two orders"],
  refusedRows: ["refused purchase with an order", "refused purchases with an order"],
  strayRows: ["stray order", "stray orders"],
};

/** Those that show the cause come first. */
const IMPORTANCE: readonly ViolationKind[] = [
  "failoverLosses",
  "overlappingHolds",
  "lostUpdates",
  "oversold",
  "staleWrites",
  "fencingOrder",
];
const SHOWN_KINDS = 2;

/** `unsafe 3 of 3`, or each result with its number. */
export function measuredText({ results }: Pick<MatrixCell, "results">): string {
  const counts = new Map<Measured, number>();
  for (const { measured } of results) counts.set(measured, (counts.get(measured) ?? 0) + 1);
  return [...counts].map(([measured, count]) => `${measured} ${count} of ${results.length}`).join(", ");
}

/** What the runs of a cell show, in a few words; empty if there is nothing to add to the result. */
export function detailText({ results }: Pick<MatrixCell, "results">): string {
  const of = (measured: Measured) => results.filter((result) => result.measured === measured);
  const parts = [unsafeText(of("unsafe")), blockedText(of("blocked")), safeText(of("safe"))];
  return parts.filter((part) => part !== "").join("; ");
}

function unsafeText(results: readonly CellResult[]): string {
  return sortedKinds(results)
    .slice(0, SHOWN_KINDS)
    .map((kind) =>
      countText(
        kind,
        results.map(({ violations }) => violations[kind] ?? 0),
      ),
    )
    .join(", ");
}

function sortedKinds(results: readonly CellResult[]): ViolationKind[] {
  const kinds = new Set(results.flatMap(({ violations }) => Object.keys(violations) as ViolationKind[]));
  const place = (kind: ViolationKind) => IMPORTANCE.indexOf(kind) + 1 || IMPORTANCE.length + 1;
  return [...kinds].sort((a, b) => place(a) - place(b));
}

function countText(kind: ViolationKind, counts: readonly number[]): string {
  const [min, max] = [Math.min(...counts), Math.max(...counts)];
  const [one, many] = NOUNS[kind];
  return min === max ? plural(max, one, many) : `${formatCount(min)} to ${formatCount(max)} ${many}`;
}

function blockedText(results: readonly CellResult[]): string {
  if (results.length === 0) return "";
  const times = results.flatMap(({ blockedMs }) => blockedMs ?? []);
  if (times.length === 0) return "the stock counter is gone";
  return `no grant for ${spanText(times)}`;
}

function safeText(results: readonly CellResult[]): string {
  const refused = results.map(({ refusedStaleWrites }) => refusedStaleWrites);
  if (Math.max(0, ...refused) > 0) return `${plural(Math.max(...refused), "late write")} refused`;
  const grants = results.flatMap(({ nextGrantMs }) => nextGrantMs ?? []);
  return grants.length === 0 ? "" : `next grant ${spanText(grants)}`;
}

/** `1.04 s`, or the smallest and the largest. */
export function spanText(times: readonly number[]): string {
  const [min, max] = [durationText(Math.min(...times)), durationText(Math.max(...times))];
  return min === max ? max : `${min} to ${max}`;
}

const SHORT_NOUNS: Readonly<Partial<typeof NOUNS>> = {
  failoverLosses: ["lost order", "lost orders"],
  overlappingHolds: ["overlap", "overlaps"],
  oversold: ["oversold", "oversold"],
  negativeStock: ["below zero", "below zero"],
};

/** The most important detail, for a narrow cell: `40 overlaps`, `4.80 s`; empty if there is none. */
export function shortDetail({ results }: Pick<MatrixCell, "results">): string {
  const [first] = results.filter(({ measured }) => measured === "unsafe");
  if (first !== undefined) {
    const [kind] = sortedKinds([first]);
    return kind === undefined ? "" : plural(first.violations[kind] ?? 0, ...(SHORT_NOUNS[kind] ?? NOUNS[kind]));
  }
  const blocked = results.find(({ measured }) => measured === "blocked");
  if (blocked !== undefined) return blocked.blockedMs === null ? "counter gone" : durationText(blocked.blockedMs);
  const refused = Math.max(0, ...results.map(({ refusedStaleWrites }) => refusedStaleWrites));
  return refused > 0 ? `${formatCount(refused)} refused` : "";
}

/** How long after the next grant the holders detected their loss. Null: no holder lost its lock. */
export function signalText({ results }: Pick<MatrixCell, "results">): string | null {
  const times = results.flatMap(({ lossSignalMs }) => lossSignalMs ?? []);
  if (times.length === 0) return null;
  const latest = Math.max(...times);
  if (latest <= 0) return "The holder detected its loss before the next grant.";
  return `The holder detected its loss ${durationText(latest)} after the next grant.`;
}
