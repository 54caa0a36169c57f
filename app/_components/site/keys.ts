import { PAGES } from "./pages";

/** Every key of the site, by where it works; the dialog lists them, and nothing else does. */

export interface KeyHelp {
  readonly keys: readonly string[];
  readonly does: string;
}

const EVERYWHERE: readonly KeyHelp[] = [
  { keys: ["?"], does: "These keys" },
  { keys: ["1"], does: "Lab" },
  ...PAGES.map(({ label }, index) => ({ keys: [String(index + 2)], does: label })),
  { keys: ["Esc"], does: "Close what is open" },
];

const LAB: readonly KeyHelp[] = [
  { keys: ["R"], does: "Run the sale as it is set up" },
  { keys: ["J"], does: "Next strategy" },
  { keys: ["K"], does: "Strategy before" },
];

const PICKING: readonly KeyHelp[] = [
  { keys: ["Space"], does: "Pick the line whose box has the focus" },
  { keys: ["C"], does: "Compare what is picked" },
];

const TIMELINE: readonly KeyHelp[] = [
  { keys: ["←", "→"], does: "In the timeline: earlier, later" },
  { keys: ["+", "−"], does: "In the timeline: closer, wider" },
  { keys: ["Home"], does: "In the timeline: the whole run" },
];

/** By the mark (`data-keys`) of what listens to them: a key is listed where it works, and as long as it does. */
const KEYS_OF: Readonly<Record<string, readonly KeyHelp[]>> = { lab: LAB, picking: PICKING, timeline: TIMELINE };

/** The keys of what is on the page, and those that work on all pages. */
export function keysOf(marks: readonly string[]): {
  readonly here: readonly KeyHelp[];
  readonly everywhere: readonly KeyHelp[];
} {
  return { here: [...new Set(marks)].flatMap((mark) => KEYS_OF[mark] ?? []), everywhere: EVERYWHERE };
}
