import { type Command, InvalidArgumentError } from "commander";
import { applyMigrations } from "../../lib/services/migrations";
import { print } from "../shared/terminal";
import { DEFAULT_INSTANCE, instancePaths } from "../supervisor/paths";
import { readLiveState } from "../supervisor/state";

interface MigrateFlags {
  readonly diff?: string;
  readonly check?: boolean;
  readonly url?: string;
}

/** `npm run lab -- migrate`: applies the committed migrations, or writes a new one. */
export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("apply the committed migrations and record them as `prisma migrate deploy` does")
    .option("--diff <name>", "write a migration with the changes of prisma/schema.prisma, then apply it", parseName)
    .option("--check", "exit 1 if the migrations do not lead to prisma/schema.prisma")
    .option("--url <url>", "the database (default: DATABASE_URL, else the database of the running lab)")
    .action(async (flags: MigrateFlags) => {
      process.exitCode = await migrate(flags);
    });
}

async function migrate(flags: MigrateFlags): Promise<number> {
  const databaseUrl = flags.url ?? process.env.DATABASE_URL ?? runningDatabase();
  if (flags.check) {
    const { diffToSchema } = await loadSchemaDiff();
    const sql = await diffToSchema(databaseUrl);
    print(sql ?? "The migrations lead to prisma/schema.prisma.");
    return sql === null ? 0 : 1;
  }
  if (flags.diff !== undefined) await writeDiff(databaseUrl, flags.diff);
  const applied = await applyMigrations(databaseUrl);
  print(applied.length > 0 ? `applied ${applied.join(", ")}` : "The database is up to date.");
  return 0;
}

async function writeDiff(databaseUrl: string, name: string): Promise<void> {
  const { diffToSchema, writeMigration } = await loadSchemaDiff();
  const sql = await diffToSchema(databaseUrl);
  if (sql === null) {
    print("The migrations already lead to prisma/schema.prisma. No migration was written.");
    return;
  }
  const timestamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  print(`wrote prisma/migrations/${await writeMigration({ timestamp, name, sql })}`);
}

/** Loaded only here: the engine is a development dependency. */
function loadSchemaDiff() {
  return import("../schema-diff/schema-diff");
}

function runningDatabase(): string {
  const url = readLiveState(instancePaths(DEFAULT_INSTANCE))?.env.DATABASE_URL;
  if (url) return url;
  throw new Error("No database is given: start the lab (`npm start`), set DATABASE_URL, or pass --url.");
}

function parseName(name: string): string {
  if (/^[a-z][a-z0-9_]{0,60}$/.test(name)) return name;
  throw new InvalidArgumentError("Use lower-case letters, digits and underscores, as in add_buyer_index.");
}
