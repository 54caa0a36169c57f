import { lockUsesOf } from "./lock-uses";
import type { ParsedHistory } from "./parse";

interface PorcupineOperation {
  readonly clientId: number;
  readonly call: number;
  /** Null if no return was recorded: the operation may take effect at any time after its call. */
  readonly return: number | null;
  readonly input: { readonly op: "acquire" | "release"; readonly holder: string };
  readonly output: { readonly fencingToken: string | null };
}

/**
 * Exports acquires and releases as JSON. docs/history-examples/porcupine-reader converts it to `[]porcupine.Operation`.
 * @throws ExportError
 * @see https://pkg.go.dev/github.com/anishathalye/porcupine#Operation
 */
export function toPorcupine({ run, history }: ParsedHistory, host?: string): string {
  const operations = lockUsesOf(history, host).flatMap((use): PorcupineOperation[] => {
    const holder = use.op.holderId ?? use.op.opId;
    const output = { fencingToken: use.op.fencingToken?.toString() ?? null };
    const { process: clientId } = use;
    return [
      { clientId, call: use.acquireCallNs, return: use.acquireReturnNs, input: { op: "acquire", holder }, output },
      { clientId, call: use.releaseCallNs, return: use.releaseReturnNs, input: { op: "release", holder }, output },
    ];
  });
  const head = { model: "mutex", runId: run?.runId ?? null, strategy: run?.strategy ?? null };
  const lines = operations.map((operation) => `    ${JSON.stringify(operation)}`).join(",\n");
  return `{\n${fields({ ...head, resource: run?.resource ?? null })},\n  "operations": [\n${lines}\n  ]\n}\n`;
}

function fields(values: Readonly<Record<string, string | null>>): string {
  return Object.entries(values)
    .map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(",\n");
}
