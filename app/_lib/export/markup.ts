/** HTML as text. The `markup` tag escapes every value except the result of another `markup`. */

export class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | readonly Markup[] | null;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

function textOf(part: Part): string {
  if (part === null) return "";
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map((one: Markup) => one.text).join("");
  return escapeText(String(part));
}

export function markup(fixed: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(
    fixed.map((text, index) => text + (index < parts.length ? textOf(parts[index] ?? null) : "")).join(""),
  );
}
