import type { Buyer, RecordedCommand, RecordedStep } from "@/lib/stock/recorded-commands";
import styles from "./command-list.module.css";

interface CommandListProps {
  readonly buyer: Buyer;
  readonly title: string;
  readonly steps: readonly RecordedStep[];
  readonly serverLabels: ReadonlyMap<string, string>;
  /** Source of Lua scripts by SHA-1. */
  readonly scripts: Readonly<Record<string, string>>;
  readonly isOpen: boolean;
}

/** Everything that one buyer sent, in full, with the replies. */
export function CommandList({ buyer, title, steps, serverLabels, scripts, isOpen }: CommandListProps) {
  const own = steps.filter((step) => step.buyer === buyer);
  return (
    <details className={styles.block} open={isOpen}>
      <summary>
        <h3 className={styles.title}>{title}</h3>
      </summary>
      <ol className={styles.list}>
        {own.map((step) => (
          <li key={`${step.at} ${step.text}`} data-kind={step.kind}>
            <span className={styles.server}>
              {serverLabels.get(step.server) ?? step.server}
              {step.kind === "notice" ? " sends" : null}
            </span>
            <div className={styles.exchange}>
              <code className={styles.text}>{step.text}</code>
              {step.kind === "command" ? <Details command={step} scripts={scripts} /> : null}
            </div>
          </li>
        ))}
      </ol>
    </details>
  );
}

function Details({ command, scripts }: { command: RecordedCommand; scripts: CommandListProps["scripts"] }) {
  const { values, script, servers, times, reply } = command;
  const source = script === undefined ? undefined : scripts[script];
  return (
    <>
      {values === undefined ? null : (
        <code className={styles.values}>{values.map((value, index) => `$${index + 1} = ${value}`).join("  ")}</code>
      )}
      {source === undefined ? null : (
        <details className={styles.script}>
          <summary>the script</summary>
          <pre>{trimmed(source)}</pre>
        </details>
      )}
      <span className={styles.reply}>
        {reply === null ? "the purchase ended before a reply" : <code>→ {reply}</code>}
        {servers === undefined ? null : ` · to ${servers} servers`}
        {times === undefined ? null : ` · sent ${times} times while waiting`}
      </span>
    </>
  );
}

/** Without the indentation that all lines share. */
function trimmed(source: string): string {
  const lines = source
    .split("\n")
    .filter((line, index, all) => line.trim() !== "" || (index > 0 && index < all.length - 1));
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const shared = Math.min(...indents);
  return lines.map((line) => line.slice(shared)).join("\n");
}
