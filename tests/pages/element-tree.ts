/** The HTML that React renders, as a tree. React closes every element and escapes every text, so a small parser is enough. */

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (Element | string)[];
}

const VOID = new Set([
  "area",
  "br",
  "col",
  "hr",
  "img",
  "input",
  "link",
  "meta",
  "source",
  "rect",
  "line",
  "path",
  "circle",
]);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#x27": "'",
  "#39": "'",
  nbsp: "\u00a0",
};
const TOKEN =
  /<!--[\s\S]*?-->|<!doctype[^>]*>|<(style|script)\b[\s\S]*?<\/\1>|<(\/?)([a-zA-Z][\w-]*)((?:\s+[^\s=>/]+(?:="[^"]*")?)*)\s*(\/?)>|([^<]+)/gi;

function decode(text: string): string {
  return text.replace(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

export function parseHtml(html: string): Element {
  const root: Element = { tag: "#root", attributes: {}, children: [] };
  const open: Element[] = [root];
  for (const [, , closing, tag, attributes = "", selfClosing, text] of html.matchAll(TOKEN)) {
    const parent = open.at(-1) ?? root;
    if (text !== undefined) parent.children.push(decode(text));
    if (tag === undefined) continue;
    if (closing === "/") {
      // An SVG shape has a closing tag or closes itself.
      if (parent.tag === tag) open.pop();
      continue;
    }
    const element: Element = { tag, attributes: attributesOf(attributes), children: [] };
    parent.children.push(element);
    if (selfClosing !== "/" && !(VOID.has(tag) && !html.includes(`</${tag}>`))) open.push(element);
  }
  if (open.length > 1) throw new Error(`the HTML does not close <${open.at(-1)?.tag}>`);
  return root;
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([^\s=]+)(?:="([^"]*)")?/g)].map(([, name = "", value = ""]) => [name, decode(value)]),
  );
}

const descendants = new WeakMap<Element, readonly Element[]>();

/** All elements below this one, in the order of the page. A page is searched many times, so the list is kept. */
function elementsOf(root: Element): readonly Element[] {
  const known = descendants.get(root);
  if (known) return known;
  const found: Element[] = [];
  const collect = (element: Element) => {
    for (const child of element.children) {
      if (typeof child === "string") continue;
      found.push(child);
      collect(child);
    }
  };
  collect(root);
  descendants.set(root, found);
  return found;
}

/** The first element that matches; null if there is none. */
export function find(root: Element, matches: (element: Element) => boolean): Element | null {
  return elementsOf(root).find(matches) ?? null;
}

export function findAll(root: Element, matches: (element: Element) => boolean): Element[] {
  return elementsOf(root).filter(matches);
}

export const has = (name: string, value: string) => (element: Element) => element.attributes[name] === value;
export const tagged = (tag: string) => (element: Element) => element.tag === tag;

/** The text that a reader sees, with one space between blocks. */
export function textOf(element: Element | null): string {
  return element === null
    ? ""
    : rawText(element)
        .replace(/[\s\u00a0]+/g, " ")
        .trim();
}

const INLINE = new Set(["span", "b", "strong", "em", "code", "a", "small", "i", "kbd"]);

function rawText({ children }: Element): string {
  return children
    .map((child) => {
      if (typeof child === "string") return child;
      return INLINE.has(child.tag) ? rawText(child) : ` ${rawText(child)} `;
    })
    .join("");
}

/** The rows of a table, each as the texts of its cells. */
export function rowsOf(table: Element | null): string[][] {
  if (table === null) return [];
  return findAll(table, tagged("tr")).map((row) =>
    row.children.flatMap((cell) => (typeof cell === "string" ? [] : [textOf(cell)])),
  );
}
