import {
  defaultMigrationPaths,
  type MigrationPaths,
  migrationList,
  NO_FILTER,
} from "../../bin/schema-diff/schema-diff";
import { withSchemaEngine } from "../../bin/schema-diff/schema-engine";

/** Prisma's schema engine as its own commands use it: what `prisma migrate` says about, and does to, a database. */

export interface PrismaFindings {
  readonly edited: readonly string[];
  readonly failed: readonly string[];
  /** How the database and the folder differ; null if they agree. */
  readonly history: string | null;
  /** What `prisma migrate dev` would do: `createMigration` means that it accepts the database, `reset` that it does not. */
  readonly devAction: string;
}

export async function diagnoseWithPrisma(
  databaseUrl: string,
  paths: MigrationPaths = defaultMigrationPaths(),
): Promise<PrismaFindings> {
  const input = { migrationsList: await migrationList(paths.migrationsDir), filters: NO_FILTER };
  return withSchemaEngine({ databaseUrl }, async (engine) => {
    const { editedMigrationNames, failedMigrationNames, history } = await engine.diagnoseMigrationHistory({
      ...input,
      optInToShadowDatabase: true,
    });
    const { action } = await engine.devDiagnostic(input);
    return {
      edited: editedMigrationNames,
      failed: failedMigrationNames,
      history: history?.diagnostic ?? null,
      devAction: action.tag,
    };
  });
}

/** What `prisma migrate deploy` does. @returns the names of the migrations that it applied */
export async function deployWithPrisma(
  databaseUrl: string,
  paths: MigrationPaths = defaultMigrationPaths(),
): Promise<string[]> {
  const input = { migrationsList: await migrationList(paths.migrationsDir), filters: NO_FILTER };
  return withSchemaEngine({ databaseUrl }, async (engine) => {
    return (await engine.applyMigrations(input)).appliedMigrationNames;
  });
}
