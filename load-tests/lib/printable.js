/**
 * Control characters that a terminal would execute, and characters that reorder text. Strings of a history, a server or a run
 * come from files and requests.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it replaces
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text for a terminal. Unsafe characters become `\uXXXX`, so JSON stays valid. Line breaks and tabs are kept.
 * @param {string} text
 */
export function printable(text) {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/**
 * The same for one line: a line break in a field could forge a line of the report.
 * @param {string} text
 */
export function printableLine(text) {
  return printable(text).replaceAll("\n", "\\n");
}
