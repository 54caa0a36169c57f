import type { RecordedCommand } from "@/lib/stock/recorded-commands";

/** The short text of a command, for a diagram. The full text is in the list of commands. */
export function commandLabel(command: RecordedCommand, maxLength: number): string {
  const label = labelOf(command);
  return label.length <= maxLength ? label : `${label.slice(0, maxLength - 1)}…`;
}

function labelOf({ server, text, values = [], script }: RecordedCommand): string {
  if (server === "postgres") return sqlLabel(text, values);
  if (text.startsWith("POST ")) return shortIds(gatewayLabel(text));
  return shortIds(script === undefined ? text : scriptLabel(text));
}

/** The short text of a reply or a notice. */
export function messageLabel(text: string): string {
  return shortIds(
    text.replace(/^(revision \d+) \{.*\}$/, (_, revision: string) => `${revision} ${changeIn(text)}`.trim()),
  );
}

/** The path, and the key or lease that it is about: the rest is JSON. */
function gatewayLabel(text: string): string {
  const [, path = "", body = ""] = text.split(" ", 3);
  const [, subject = ""] = /"(?:key|ID)":"([^"]*)"/.exec(body) ?? [];
  return `POST ${path} ${subject}`;
}

/** What etcd says beside the revision. */
function changeIn(json: string): string {
  const [, type] = /"type":"(\w+)"/.exec(json) ?? [];
  const [, deleted] = /"deleted":"(\d+)"/.exec(json) ?? [];
  const [, key] = /"key":"([^"]*)"/.exec(json) ?? [];
  if (type !== undefined) return `${type} ${key ?? ""}`;
  return deleted === undefined ? "" : `deleted ${deleted}`;
}

/** The statement that matters, with its values: not the settings of the transaction, and not the columns of the order. */
function sqlLabel(text: string, values: readonly string[]): string {
  const statements = text.split("; ").filter((statement) => !/^SET |^SELECT set_config/i.test(statement));
  const statement = statements.map(ofWith).join("; ");
  return statement
    .replace(/::\w+/g, "")
    .replace(/ISOLATION LEVEL /, "")
    .replace(/\$(\d+)/g, (parameter, index) => values[Number(index) - 1] ?? parameter);
}

/** The stock's part of a statement that also inserts the order. */
function ofWith(statement: string): string {
  if (!statement.startsWith("WITH ")) return statement;
  const update = /UPDATE (?:products|stock_buckets)\b.*?(?= RETURNING)/.exec(statement)?.[0];
  const stock = (update ?? "SELECT").replace(", version = version + 1", "");
  return /INSERT INTO orders/.test(statement) ? `${stock} + INSERT order` : stock;
}

/** `EVALSHA 1f2e3d4c 1 key value`. */
function scriptLabel(text: string): string {
  return text.replace(/^(EVAL(?:SHA)?) (\w{6})\w*/, "$1 $2…");
}

/** Random ids are longer than what matters. */
function shortIds(text: string): string {
  return text
    .replace(/_c_[0-9a-f-]{36}-lock-(\d*)/g, "lock-$1")
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b/g, (id) => `${id.slice(0, 6)}…`)
    .replace(/\b[0-9a-f]{12,}\b/g, (id) => `${id.slice(0, 6)}…`);
}
