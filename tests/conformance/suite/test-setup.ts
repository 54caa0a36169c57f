import { createLock, type LockDependencies, type LockEntry, lockEntries } from "../../../lib/locks/create-lock";
import type { LockStrategy, StrategyTraits } from "../../../lib/locks/types";
import { LockedStock } from "../../../lib/stock/locked-stock";
import { StockStore } from "../../../lib/stock/stock-store";
import { createStockStrategy, stockStrategies } from "../../../lib/stock/stock-strategies";
import type { StockStrategy } from "../../../lib/stock/types";
import type { LockClients } from "../../support/lock-clients";
import type { TestPostgresOptions } from "../../support/postgres-for-tests";

/** Names the strategy under test. Plain JSON, so it can be sent to other processes. */
export interface TestSetup {
  readonly strategyId: string;
  /** Settings of the PostgreSQL locks. */
  readonly postgres?: Pick<TestPostgresOptions, "rowLock" | "advisory">;
  /** URL of a program module (tests/support/test-program.ts) that exports `entry`, a LockEntry, for a lock that is not in all-locks.ts. */
  readonly module?: string;
}

export const nameOf = ({ strategyId, postgres = {} }: TestSetup) => [strategyId, ...Object.values(postgres)].join(" ");

/** Each strategy gets a separate table of rows: a lock on the whole table would block the tests of other strategies. */
export function postgresOptions({ strategyId, postgres }: TestSetup): TestPostgresOptions {
  return { ...postgres, rowsTable: `test_rows_${strategyId.replaceAll("-", "_")}` };
}

/** The entry of a lock that is not in all-locks.ts; otherwise null. */
export async function externalEntry({ module }: TestSetup): Promise<LockEntry | null> {
  return module === undefined ? null : ((await import(module)) as { entry: LockEntry }).entry;
}

export function traitsOf({ strategyId }: TestSetup, external: LockEntry | null): StrategyTraits {
  const entry = external ?? stockStrategies.get(strategyId);
  if (entry) return entry.traits;
  throw new Error(`unknown strategy "${strategyId}"; valid ids: ${[...stockStrategies.keys()].join(", ")}`);
}

export function isLock(setup: TestSetup): boolean {
  return setup.module !== undefined || lockEntries.has(setup.strategyId);
}

export function makeLock(setup: TestSetup, external: LockEntry | null, dependencies: LockDependencies): LockStrategy {
  return external ? external.create(dependencies) : createLock(setup.strategyId, dependencies);
}

/** The strategy as the shop uses it. Its rows are in the PostgreSQL of the clients. */
export function makeStock(setup: TestSetup, external: LockEntry | null, clients: LockClients): StockStrategy {
  const { pool } = clients.postgres();
  const node = `conformance-${process.pid}`;
  if (external) return new LockedStock(external.create(clients), new StockStore(pool, node));
  return createStockStrategy(setup.strategyId, { pool, node, locks: clients });
}
