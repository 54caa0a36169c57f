import { createLock, type LockDependencies, type LockEntry, lockEntries } from "../../../lib/locks/create-lock";
import type { LockStrategy, StrategyTraits } from "../../../lib/locks/types";
import { LockedStock } from "../../../lib/stock/locked-stock";
import { StockStore } from "../../../lib/stock/stock-store";
import { createStockStrategy, stockStrategies } from "../../../lib/stock/stock-strategies";
import type { StockStrategy } from "../../../lib/stock/types";
import type { LockClients } from "../../support/lock-clients";
import type { TestPostgresOptions } from "../../support/postgres-for-tests";

/** What is plugged into the suite. JSON, so that other processes can be told. */
export interface TestSetup {
  readonly strategyId: string;
  /** Settings of the locks in PostgreSQL. */
  readonly postgres?: Pick<TestPostgresOptions, "rowLock" | "advisory">;
  /** The URL of a module that exports `entry`, a LockEntry, for a lock that is not in the catalogue. */
  readonly module?: string;
}

export const nameOf = ({ strategyId, postgres = {} }: TestSetup) => [strategyId, ...Object.values(postgres)].join(" ");

/** A table of rows of its own: one that locks a whole table would stop its neighbours. */
export function postgresOptions({ strategyId, postgres }: TestSetup): TestPostgresOptions {
  return { ...postgres, rowsTable: `test_rows_${strategyId.replaceAll("-", "_")}` };
}

/** The entry of a lock that is not in the catalogue; null where it is. */
export async function foreignEntry({ module }: TestSetup): Promise<LockEntry | null> {
  return module === undefined ? null : ((await import(module)) as { entry: LockEntry }).entry;
}

export function traitsOf({ strategyId }: TestSetup, foreign: LockEntry | null): StrategyTraits {
  const entry = foreign ?? stockStrategies.get(strategyId);
  if (entry) return entry.traits;
  throw new Error(`there is no strategy "${strategyId}"; valid ids: ${[...stockStrategies.keys()].join(", ")}`);
}

export function isLock(plug: TestSetup): boolean {
  return plug.module !== undefined || lockEntries.has(plug.strategyId);
}

export function makeLock(plug: TestSetup, foreign: LockEntry | null, dependencies: LockDependencies): LockStrategy {
  return foreign ? foreign.create(dependencies) : createLock(plug.strategyId, dependencies);
}

/** The strategy as the shop would use it. Its rows are in the clients' PostgreSQL. */
export function makeStock(plug: TestSetup, foreign: LockEntry | null, clients: LockClients): StockStrategy {
  const { pool } = clients.postgres();
  const node = `conformance-${process.pid}`;
  if (foreign) return new LockedStock(foreign.create(clients), new StockStore(pool, node));
  return createStockStrategy(plug.strategyId, { pool, node, locks: clients });
}
