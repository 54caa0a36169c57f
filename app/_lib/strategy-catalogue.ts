import type { StrategyFamily, StrategyTraits } from "@/lib/locks/types";

/** Response body of `GET /api/strategies`. */
export interface Catalogue {
  /** Strategy of purchases outside runs; "mixed" if the nodes differ. */
  readonly active: string;
  readonly strategies: readonly CatalogueStrategy[];
  readonly services: readonly CatalogueService[];
  readonly engines: readonly CatalogueEngine[];
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  readonly faults: readonly CatalogueFault[];
  readonly adminTokenRequired: boolean;
}

/** A fault that the lab can inject. */
export interface CatalogueFault {
  readonly id: string;
  /** One sentence that says what the fault does. */
  readonly does: string;
  /** The topology that it acts on: only a run that is opened with the fault can have it. Null: a running sale can. */
  readonly topology: string | null;
  /** Why the fault is not applicable, by strategy id; applicable strategies have no entry. */
  readonly reasonsAgainst: Readonly<Record<string, string>>;
}

export interface CatalogueStrategy extends StrategyTraits {
  readonly familyLabel: string;
  /** The servers that it needs besides PostgreSQL. */
  readonly needsLabels: readonly string[];
  readonly available: boolean;
  /** Why it is unavailable and the command that fixes it; null when available. */
  readonly unavailableReason: string | null;
}

export interface CatalogueService {
  readonly id: string;
  readonly label: string;
  readonly present: boolean;
  /** True if it has not answered yet since the dashboard's start. */
  readonly checking: boolean;
  readonly reason: string | null;
}

export interface CatalogueEngine {
  readonly id: "k6" | "builtin";
  readonly available: boolean;
  readonly version: string | null;
  readonly reason: string | null;
  /** Buyers that it can start together on this machine, and what sets the limit. */
  readonly maxBuyers: number;
  readonly limitedBy: string;
}

export interface FamilyGroup {
  readonly family: StrategyFamily;
  readonly label: string;
  readonly strategies: readonly CatalogueStrategy[];
}

/** Groups strategies by family, in the order of the catalogue. */
export function byFamily(strategies: readonly CatalogueStrategy[]): FamilyGroup[] {
  const labels = new Map(strategies.map(({ family, familyLabel }) => [family, familyLabel]));
  return [...labels].map(([family, label]) => ({
    family,
    label,
    strategies: strategies.filter((strategy) => strategy.family === family),
  }));
}

/** The next or previous strategy in display order; wraps around at both ends. */
export function neighbour(strategies: readonly CatalogueStrategy[], current: string, step: 1 | -1): string {
  const order = byFamily(strategies).flatMap((group) => group.strategies.map((strategy) => strategy.id));
  if (order.length === 0) return current;
  const at = order.indexOf(current);
  const next = at === -1 ? 0 : (at + step + order.length) % order.length;
  return order[next] ?? current;
}

/** Whether the strategy is expected to be unsafe with this many nodes. */
export function isUnsafeWith(strategy: StrategyTraits, nodes: number): boolean {
  return (nodes === 1 ? strategy.expected.alone : strategy.expected.threeNodes) === "unsafe";
}

/** k6 if the lab has it, else the built-in load generator. */
export function preferredEngine(engines: readonly CatalogueEngine[]): "k6" | "builtin" {
  return engines.some((engine) => engine.id === "k6" && engine.available) ? "k6" : "builtin";
}

/** "k6 2.2.0" or "built-in"; the built-in generator has the version of the lab. */
export function engineLabel({ id, version }: CatalogueEngine): string {
  if (id === "builtin") return "built-in";
  const number = version?.replace(/^(k6\s+)?v?/, "") ?? "";
  return number === "" ? "k6" : `k6 ${number}`;
}
