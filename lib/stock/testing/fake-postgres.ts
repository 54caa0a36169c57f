import type { Pool } from "pg";

/** A row, null for no row, the error that the statement fails with, or a promise of one of them for a late reply. */
export type Reply = object | readonly object[] | null | Error;

export interface SentStatement {
  /** Statement name of stock-sql.ts without the kind, for example `takeGuarded_shop`; the first word of other text. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
  readonly timeoutMs: number | undefined;
}

/** A PostgreSQL pool that answers each statement with the next scripted reply, in place of a server. */
export class FakePostgres {
  readonly sent: SentStatement[] = [];
  /** The errors with which connections went back to the pool; undefined for a healthy one. */
  readonly released: (Error | undefined)[] = [];
  /** Called before each statement is sent. */
  onStatement: (name: string) => void = () => {};
  /** Fails the next checkouts of a connection. */
  connectFailure: Error | null = null;
  readonly #replies = new Map<string, Reply[]>();
  readonly #events: string[];

  constructor(events: string[] = []) {
    this.#events = events;
  }

  /** Adds replies for a statement. The last one repeats. */
  reply(name: string, ...replies: Reply[]): this {
    this.#replies.set(name, [...(this.#replies.get(name) ?? []), ...replies]);
    return this;
  }

  namesSent(): string[] {
    return this.sent.map(({ name }) => name);
  }

  valuesOf(name: string): readonly unknown[] | undefined {
    return this.sent.findLast((statement) => statement.name === name)?.values;
  }

  readonly client = {
    // A cancel request goes to this address, where no server listens; it fails without an effect.
    host: "/nonexistent",
    port: 1,
    processID: 1,
    secretKey: 1,
    query: (query: object) => this.#query(query),
    release: (error?: Error) => this.released.push(error),
    on: () => {},
    removeListener: () => {},
  };

  readonly pool = {
    connect: async () => {
      if (this.connectFailure) throw this.connectFailure;
      return this.client;
    },
    query: (query: object | string, values: readonly unknown[] = []) =>
      this.#query(typeof query === "string" ? { text: query, values } : query),
  } as unknown as Pool;

  async #query(query: { name?: string; text?: string; values?: readonly unknown[]; query_timeout?: number }) {
    const { text = "", values = [], query_timeout: timeoutMs } = query;
    const name = nameOf(query.name, text);
    this.onStatement(name);
    this.sent.push({ name, text, values, timeoutMs });
    this.#events.push(`postgres ${name}`);
    const replies = this.#replies.get(name) ?? DEFAULTS.get(name);
    if (!replies) throw new Error(`The test has no reply for the statement ${name}. Add one with reply().`);
    const reply = await (replies.length > 1 ? replies.shift() : replies[0]);
    if (reply instanceof Error) throw reply;
    const rows = Array.isArray(reply) ? reply : reply ? [reply] : [];
    return { rows, command: name };
  }
}

const DEFAULTS = new Map<string, Reply[]>([
  ["BEGIN", [null]],
  ["COMMIT", [null]],
  ["ROLLBACK", [null]],
]);

/** The statements of counter-queries.ts have no names. */
const UNNAMED: readonly (readonly [RegExp, string])[] = [
  [/^SELECT stock FROM/, "stock"],
  [/^SELECT \* FROM \(SELECT user_id/, "bought"],
  [/^SELECT user_id/, "buyers"],
  [/^SELECT op_id/, "withOrder"],
  [/ended_by/, "endedBy"],
];

function nameOf(prepared: string | undefined, text: string): string {
  if (prepared) return prepared.replace(/^(product|coupon)_/, "");
  return UNNAMED.find(([pattern]) => pattern.test(text))?.[1] ?? text.split(" ", 1)[0] ?? "";
}

/** An error that PostgreSQL itself reported: the statement changed nothing. */
export function sqlError(code: string, constraint?: string): Error {
  return Object.assign(new Error(`SQL state ${code}`), { severity: "ERROR", code, constraint });
}

/** A connection that broke before the reply arrived: the statement may have been executed. */
export function lostReply(): Error {
  return new Error("Connection terminated unexpectedly");
}
