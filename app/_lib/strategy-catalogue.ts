import type { StrategyFamily, StrategyTraits } from "@/lib/locks/types";

/** What `GET /api/strategies` answers. */
export interface Catalogue {
  /** The strategy of purchases outside of runs. */
  readonly active: string;
  readonly strategies: readonly CatalogueStrategy[];
  readonly services: readonly CatalogueService[];
  readonly engines: readonly CatalogueEngine[];
  readonly nodes: readonly { readonly name: string; readonly url: string }[];
  readonly faults: readonly CatalogueFault[];
  readonly adminTokenRequired: boolean;
}

/** Something that can be done to a sale. */
export interface CatalogueFault {
  readonly id: string;
  /** One sentence. */
  readonly does: string;
  /** Why it cannot be done, by strategy; the others are not in it. */
  readonly reasonsAgainst: Readonly<Record<string, string>>;
}

export interface CatalogueStrategy extends StrategyTraits {
  readonly familyLabel: string;
  /** The servers that it needs besides PostgreSQL. */
  readonly needsLabels: readonly string[];
  readonly available: boolean;
  /** The one line that would make it available. */
  readonly unavailableReason: string | null;
}

export interface CatalogueService {
  readonly id: string;
  readonly label: string;
  readonly present: boolean;
  readonly reason: string | null;
}

export interface CatalogueEngine {
  readonly id: "k6" | "builtin";
  readonly available: boolean;
  readonly version: string | null;
  readonly reason: string | null;
}

export interface FamilyGroup {
  readonly family: StrategyFamily;
  readonly label: string;
  readonly strategies: readonly CatalogueStrategy[];
}

/** Families in the catalogue's own order, each with its strategies. */
export function byFamily(strategies: readonly CatalogueStrategy[]): FamilyGroup[] {
  const labels = new Map(strategies.map(({ family, familyLabel }) => [family, familyLabel]));
  return [...labels].map(([family, label]) => ({
    family,
    label,
    strategies: strategies.filter((strategy) => strategy.family === family),
  }));
}

/** The strategy one step away in the list as it is shown, round the ends. */
export function neighbour(strategies: readonly CatalogueStrategy[], current: string, step: 1 | -1): string {
  const order = byFamily(strategies).flatMap((group) => group.strategies.map((strategy) => strategy.id));
  if (order.length === 0) return current;
  const at = order.indexOf(current);
  const next = at === -1 ? 0 : (at + step + order.length) % order.length;
  return order[next] ?? current;
}

/** Whether a remark warns: the page sets it in the alarm colour. */
export function isUnsafeWith(strategy: StrategyTraits, nodes: number): boolean {
  return (nodes === 1 ? strategy.expected.alone : strategy.expected.threeNodes) === "unsafe";
}

/** k6 where the lab has it, else the built-in generator. */
export function preferredEngine(engines: readonly CatalogueEngine[]): "k6" | "builtin" {
  return engines.some((engine) => engine.id === "k6" && engine.available) ? "k6" : "builtin";
}

/** "k6 2.2.0", or "built-in", whose version is the lab's own. */
export function engineLabel({ id, version }: CatalogueEngine): string {
  if (id === "builtin") return "built-in";
  const number = version?.replace(/^(k6\s+)?v?/, "") ?? "";
  return number === "" ? "k6" : `k6 ${number}`;
}
