import { type Command, InvalidArgumentError } from "commander";
import { applyMigrations, diffToSchema, writeMigration } from "../../lib/services/migrations";
import { DEFAULT_INSTANCE, instancePaths } from "../supervisor/paths";
import { readLiveState } from "../supervisor/state";

interface MigrateFlags {
  readonly diff?: string;
  readonly check?: boolean;
  readonly url?: string;
}

/** `npm run lab -- migrate`: Prisma's migrations without its downloaded engine. */
export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("apply the committed migrations, as `prisma migrate deploy` does, without its download")
    .option("--diff <name>", "write a new migration that leads to prisma/schema.prisma, then apply it", parseName)
    .option("--check", "exit 1 when the migrations and prisma/schema.prisma differ")
    .option("--url <url>", "the database; DATABASE_URL or that of the running lab when left out")
    .action(async (flags: MigrateFlags) => {
      process.exitCode = await migrate(flags);
    });
}

async function migrate(flags: MigrateFlags): Promise<number> {
  const databaseUrl = flags.url ?? process.env.DATABASE_URL ?? runningDatabase();
  if (flags.check) {
    const sql = await diffToSchema(databaseUrl);
    console.log(sql ?? "The migrations lead to prisma/schema.prisma.");
    return sql === null ? 0 : 1;
  }
  if (flags.diff !== undefined) await writeDiff(databaseUrl, flags.diff);
  const applied = await applyMigrations(databaseUrl);
  console.log(applied.length > 0 ? `applied ${applied.join(", ")}` : "The database is up to date.");
  return 0;
}

async function writeDiff(databaseUrl: string, name: string): Promise<void> {
  const sql = await diffToSchema(databaseUrl);
  if (sql === null) {
    console.log("The migrations lead to prisma/schema.prisma already; nothing written.");
    return;
  }
  const timestamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  console.log(`wrote prisma/migrations/${await writeMigration({ timestamp, name, sql })}`);
}

function runningDatabase(): string {
  const url = readLiveState(instancePaths(DEFAULT_INSTANCE))?.env.DATABASE_URL;
  if (url) return url;
  throw new Error("There is no database: start the lab (`npm start`), set DATABASE_URL, or pass --url.");
}

function parseName(name: string): string {
  if (/^[a-z][a-z0-9_]{0,60}$/.test(name)) return name;
  throw new InvalidArgumentError("It is a name such as add_buyer_index: lower-case letters, digits and underscores.");
}
