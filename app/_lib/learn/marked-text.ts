import { TERMS } from "./terms";

export interface TextPart {
  readonly kind: "text" | "code" | "term";
  readonly text: string;
}

/** The parts of a text with `code` and *terms*. */
export function partsOf(text: string): TextPart[] {
  return text
    .split(/(`[^`]+`|\*[^*]+\*)/)
    .filter((part) => part !== "")
    .map((part) => {
      if (part.startsWith("`")) return { kind: "code", text: part.slice(1, -1) };
      return part.startsWith("*") ? { kind: "term", text: part.slice(1, -1) } : { kind: "text", text: part };
    });
}

/** @returns the name of the term that a marked word is a form of; null: there is no such term */
export function termNamed(word: string): string | null {
  return Object.keys(TERMS).find((name) => TERMS[name]?.pattern.exec(word)?.[0] === word) ?? null;
}

export interface DefinedTerm {
  readonly name: string;
  readonly definition: string;
}

/** The terms that a paragraph defines, in its order. */
export function termsIn(text: string): DefinedTerm[] {
  return partsOf(text).flatMap((part) => {
    const name = part.kind === "term" ? termNamed(part.text) : null;
    const term = name === null ? undefined : TERMS[name];
    return name === null || term === undefined ? [] : [{ name, definition: term.definition }];
  });
}
