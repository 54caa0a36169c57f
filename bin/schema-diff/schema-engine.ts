import { randomUUID } from "node:crypto";
import type { EventEmitter } from "node:events";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { PrismaPg } from "@prisma/adapter-pg";
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import type { SchemaEngine } from "@prisma/schema-engine-wasm";
import pg from "pg";

/**
 * Prisma's schema engine as WebAssembly: the same code as the binary behind `prisma migrate`, which needs a download.
 * Development only. The package expects a bundler that imports `.wasm` files, so this module instantiates it by hand.
 */

interface EngineModule {
  readonly SchemaEngine: typeof SchemaEngine;
  readonly __wbg_set_wasm: (exports: WebAssembly.Exports) => void;
}

let loading: Promise<EngineModule> | undefined;

async function load(): Promise<EngineModule> {
  const require = createRequire(import.meta.url);
  const bindingsPath = require.resolve("@prisma/schema-engine-wasm/schema_engine_bg");
  const bindings = (await import("@prisma/schema-engine-wasm/schema_engine_bg")) as unknown as EngineModule;
  const module = await WebAssembly.compile(await readFile(bindingsPath.replace(/\.js$/, ".wasm")));
  // The bindings are the module's only imports, under each specifier.
  const imports: WebAssembly.Imports = {};
  for (const { module: specifier } of WebAssembly.Module.imports(module)) {
    imports[specifier] = withIdleTimers(bindings as unknown as WebAssembly.ModuleImports);
  }
  const instance = await WebAssembly.instantiate(module, imports);
  bindings.__wbg_set_wasm(instance.exports);
  const start = instance.exports.__wbindgen_start;
  if (typeof start === "function") start();
  return bindings;
}

/** The engine never clears its timers (10 s on its advisory lock): unreferenced, they do not keep the process alive. */
function withIdleTimers(bindings: WebAssembly.ModuleImports): WebAssembly.ModuleImports {
  const imports = { ...bindings };
  for (const [name, original] of Object.entries(bindings)) {
    if (!name.startsWith("__wbg_setTimeout") || typeof original !== "function") continue;
    imports[name] = (...args: unknown[]) => {
      const timer: unknown = original(...args);
      if (typeof timer === "object" && timer !== null && "unref" in timer) (timer as NodeJS.Timeout).unref();
      return timer;
    };
  }
  return imports;
}

/** Runs `work` with an engine that is connected to the database, and frees the engine afterwards. */
export async function withSchemaEngine<T>(
  options: { readonly databaseUrl: string; readonly schema?: string },
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  loading ??= load();
  const bindings = await loading;
  const pool = enginePool(connectionOf(options.databaseUrl));
  const shadows: ShadowDatabase[] = [];
  try {
    const datamodels: [string, string][] | undefined = options.schema ? [["schema.prisma", options.schema]] : undefined;
    const adapter = bindMigrationAwareSqlAdapterFactory(engineAdapter(pool, shadows));
    const engine = await bindings.SchemaEngine.new({ datamodels }, ignoreEngineLog, adapter);
    return await withAnswerLimit(work(engine)).finally(() => engine.free());
  } catch (cause) {
    throw new Error(`Prisma's schema engine: ${explain(cause)}`, { cause });
  } finally {
    // The engine does not wait until its shadow databases are dropped, and after an error it does not drop them.
    for (const shadow of shadows) await shadow.drop();
    await pool.end();
  }
}

/** After a panic the engine's promise never settles, so the wait needs a limit. */
async function withAnswerLimit<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const seconds = ANSWER_LIMIT_MS / 1_000;
    timer = setTimeout(() => reject(new Error(`no answer within ${seconds} s; it may have panicked`)), ANSWER_LIMIT_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** The engine logs every statement. Errors arrive as exceptions, so the log is dropped. */
function ignoreEngineLog(): void {}

function connectionOf(databaseUrl: string): pg.PoolConfig {
  const { host, port, user, password, database, ssl } = new pg.Client({ connectionString: databaseUrl });
  return { host, port, user, password: password ?? undefined, database, ssl };
}

/** The adapter's own pool would keep the process alive until its connections time out, so the adapter gets this one. */
function enginePool(connection: pg.PoolConfig): pg.Pool {
  return new pg.Pool({ ...connection, Client: CatalogClient, connectionTimeoutMillis: 10_000, max: 2 });
}

/** A temporary database in which the engine replays the migrations. */
class ShadowDatabase {
  readonly pool: pg.Pool;
  private readonly name: string;
  private readonly admin: pg.Pool;
  private dropping: Promise<void> | undefined;

  private constructor(admin: pg.Pool, name: string) {
    this.admin = admin;
    this.name = name;
    this.pool = enginePool({ ...admin.options, database: name });
  }

  static async create(admin: pg.Pool): Promise<ShadowDatabase> {
    const name = `shadow_${randomUUID().replaceAll("-", "")}`;
    await admin.query(`CREATE DATABASE ${name}`);
    return new ShadowDatabase(admin, name);
  }

  /** Idempotent. */
  drop(): Promise<void> {
    this.dropping ??= this.pool.end().then(async () => {
      await this.admin.query(`DROP DATABASE ${this.name} WITH (FORCE)`);
    });
    return this.dropping;
  }
}

/**
 * Prisma's adapter with another shadow database: the original drops its shadow database while it is still connected,
 * which PostgreSQL rejects.
 */
function engineAdapter(pool: pg.Pool, shadows: ShadowDatabase[]): SqlMigrationAwareDriverAdapterFactory {
  const original = new PrismaPg(pool);
  return {
    provider: original.provider,
    adapterName: original.adapterName,
    connect: () => original.connect(),
    connectToShadowDb: async () => {
      const shadow = await ShadowDatabase.create(pool);
      shadows.push(shadow);
      const adapter = await new PrismaPg(shadow.pool).connect();
      adapter.dispose = () => shadow.drop();
      return adapter;
    },
  };
}

const ANSWER_LIMIT_MS = 60_000;
const OID_INTERNAL_CHAR = 18;
const OID_TEXT = 25;

/**
 * Adapts PostgreSQL's catalogue to what the engine can read. The one-byte `"char"` columns arrive as text, because the
 * engine cannot read the adapter's type for them. Check constraints and (since PostgreSQL 18) not-null constraints make
 * the engine panic, so they are left out: a schema file does not express them.
 */
class CatalogClient extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const { connection } = this as unknown as { connection: EventEmitter };
    connection.prependListener("rowDescription", (message: { fields: { dataTypeID: number }[] }) => {
      for (const field of message.fields) {
        if (field.dataTypeID === OID_INTERNAL_CHAR) field.dataTypeID = OID_TEXT;
      }
    });
    const query = this.query.bind(this) as (...args: unknown[]) => unknown;
    this.query = ((first: unknown, ...rest: unknown[]) =>
      query(excludeCheckConstraints(first), ...rest)) as pg.Client["query"];
  }
}

const CONSTRAINT_FILTER = "contype NOT IN ('p', 'u', 'f')";

function excludeCheckConstraints(query: unknown): unknown {
  if (typeof query === "string") return query.replace(CONSTRAINT_FILTER, "contype NOT IN ('p', 'u', 'f', 'c', 'n')");
  if (typeof query !== "object" || query === null || !("text" in query) || typeof query.text !== "string") return query;
  return Object.assign(query, { text: excludeCheckConstraints(query.text) });
}

/** The engine throws user-facing errors as plain objects. */
function explain(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : JSON.stringify(cause);
}
