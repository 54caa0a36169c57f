type Row = Readonly<Record<string, unknown>>;
/** Rows, an error, or a function that works them out from the statement's values. */
export type Reply = readonly Row[] | Error | ((values: readonly unknown[]) => readonly Row[] | Promise<readonly Row[]>);

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

interface Script {
  readonly pattern: RegExp;
  readonly replies: Reply[];
}

interface Result {
  readonly rows: readonly Row[];
  readonly rowCount: number;
}

/** A pool that answers each statement with scripted rows, and records what it was sent. */
export class FakePostgres {
  readonly statements: Statement[] = [];
  /** Statements that no script matched. A suite that uses `useFakes` fails if there are any. */
  readonly unscripted: string[] = [];
  /** What each connection was released with: an error destroys the connection. */
  readonly released: (Error | undefined)[] = [];
  connectError: Error | null = null;
  private scripts: Script[] = [];

  /** Answers statements that match with these replies in turn, and repeats the last one. Later scripts take precedence. */
  script(pattern: RegExp, ...replies: Reply[]): this {
    this.scripts.unshift({ pattern, replies });
    return this;
  }

  /** The values of each statement that matches, in the order of sending. */
  sent(pattern: RegExp): (readonly unknown[])[] {
    return this.statements.filter(({ text }) => pattern.test(text)).map(({ values }) => values);
  }

  readonly query = async (
    statement: string | { readonly text: string; readonly values?: readonly unknown[] },
    values: readonly unknown[] = [],
  ): Promise<Result> => {
    const sent = typeof statement === "string" ? { text: statement, values } : { values, ...statement };
    // Copies arrays, because callers may change theirs later.
    this.statements.push({ ...sent, values: sent.values.map((value) => (Array.isArray(value) ? [...value] : value)) });
    const script = this.scripts.find(({ pattern }) => pattern.test(sent.text));
    if (!script) {
      this.unscripted.push(sent.text);
      throw new Error(`no script matches the statement: ${sent.text}`);
    }
    const reply = (script.replies.length > 1 ? script.replies.shift() : script.replies[0]) ?? [];
    if (reply instanceof Error) throw reply;
    const rows = typeof reply === "function" ? await reply(sent.values) : reply;
    return { rows, rowCount: rows.length };
  };

  readonly connect = async () => {
    if (this.connectError) throw this.connectError;
    return { query: this.query, release: (error?: Error) => void this.released.push(error) };
  };
}

/** An error as PostgreSQL's server reports it. */
export function serverError(sqlState: string, constraint?: string): Error {
  return Object.assign(new Error(`SQLSTATE ${sqlState}`), { severity: "ERROR", code: sqlState, constraint });
}
