import { printable } from "../../load-tests/lib/printable.js";

/**
 * What a command prints. Names, messages and reasons come from files, servers and requests and could hold control sequences,
 * so they are escaped here, or where they enter a line that is rewritten.
 */

export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Moves to the start of the line and erases it. */
export const ERASE_LINE = "\r\u001b[K";

export function writeOut(text: string): void {
  process.stdout.write(printable(text));
}

export function writeError(text: string): void {
  process.stderr.write(printable(text));
}

/** Prints lines to stdout. */
export function print(text: string): void {
  writeOut(`${text}\n`);
}

/** Prints lines to stderr. */
export function printError(text: string): void {
  writeError(`${text}\n`);
}

/** Writes the content of a file to stdout: unchanged, unless a terminal would execute it. */
export function printFile(text: string): void {
  process.stdout.write(process.stdout.isTTY ? printable(text) : text);
}
