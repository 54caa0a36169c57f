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
 * Prisma's own schema engine as WebAssembly: the same code as the binary behind `prisma migrate`, without its download.
 * The package expects a bundler that imports `.wasm` files, so it is instantiated by hand here.
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
  // The bindings are the module's only imports, whatever the specifier it asks for them by.
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

/** The engine's limits (10 s on its advisory lock) are timers it never clears: they must not keep the process alive. */
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

/** Runs `work` with an engine connected to the database, and frees it afterwards. */
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
    return await answered(work(engine)).finally(() => engine.free());
  } catch (cause) {
    throw new Error(`Prisma's schema engine: ${explain(cause)}`, { cause });
  } finally {
    // The engine does not wait for its shadow databases to be dropped, nor drops them after an error.
    for (const shadow of shadows) await shadow.drop();
    await pool.end();
  }
}

/** An engine that panics says nothing more; whoever waits for it must not wait for ever. */
async function answered<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    const seconds = ANSWER_LIMIT_MS / 1_000;
    timer = setTimeout(() => reject(new Error(`no answer within ${seconds} s; it may have panicked`)), ANSWER_LIMIT_MS);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** The engine narrates every statement; its errors come as exceptions, so the narration is not kept. */
function ignoreEngineLog(): void {}

function connectionOf(databaseUrl: string): pg.PoolConfig {
  const { host, port, user, password, database, ssl } = new pg.Client({ connectionString: databaseUrl });
  return { host, port, user, password: password ?? undefined, database, ssl };
}

/** A pool of our own, because the adapter's would keep the process alive until its connections have idled out. */
function enginePool(connection: pg.PoolConfig): pg.Pool {
  return new pg.Pool({ ...connection, Client: CatalogClient, connectionTimeoutMillis: 10_000, max: 2 });
}

/** A scratch database in which the engine replays the migrations. */
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

  /** Once, however often it is asked for. */
  drop(): Promise<void> {
    this.dropping ??= this.pool.end().then(async () => {
      await this.admin.query(`DROP DATABASE ${this.name} WITH (FORCE)`);
    });
    return this.dropping;
  }
}

/**
 * The adapter of Prisma, except for its shadow database: the original drops it while still connected to it, which
 * PostgreSQL refuses.
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
 * PostgreSQL as the engine can read it. The catalogue's one-byte `"char"` columns reach it as text, since it cannot read the
 * adapter's type for them. The kind of a constraint is the one it wants as a character after all: check and (since
 * PostgreSQL 18) not-null constraints, which a schema file does not speak of, would make it panic and are left out.
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
      query(withoutPlainConstraints(first), ...rest)) as pg.Client["query"];
  }
}

const CONSTRAINTS_ASKED_FOR = "contype NOT IN ('p', 'u', 'f')";

function withoutPlainConstraints(query: unknown): unknown {
  if (typeof query === "string")
    return query.replace(CONSTRAINTS_ASKED_FOR, "contype NOT IN ('p', 'u', 'f', 'c', 'n')");
  if (typeof query !== "object" || query === null || !("text" in query) || typeof query.text !== "string") return query;
  return Object.assign(query, { text: withoutPlainConstraints(query.text) });
}

/** The engine throws user-facing errors as JSON-like objects; keep their sentence. */
function explain(cause: unknown): string {
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : JSON.stringify(cause);
}
