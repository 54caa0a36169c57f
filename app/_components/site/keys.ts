import { PAGES } from "./pages";

/** Keyboard shortcuts by the part of the site that handles them; the Keys dialog lists them. */

export interface KeyHelp {
  readonly keys: readonly string[];
  readonly does: string;
}

const EVERYWHERE: readonly KeyHelp[] = [
  { keys: ["?"], does: "Show these shortcuts" },
  { keys: ["1"], does: "Lab" },
  ...PAGES.map(({ label }, index) => ({ keys: [String(index + 2)], does: label })),
  { keys: ["Esc"], does: "Close the dialog" },
];

const LAB: readonly KeyHelp[] = [
  { keys: ["R"], does: "Run the sale with the current settings" },
  { keys: ["J"], does: "Next strategy" },
  { keys: ["K"], does: "Previous strategy" },
];

const PICKING: readonly KeyHelp[] = [
  { keys: ["Space"], does: "Select the row whose checkbox has the focus" },
  { keys: ["C"], does: "Compare the selected rows" },
];

const TIMELINE: readonly KeyHelp[] = [
  { keys: ["←", "→"], does: "Timeline: move earlier or later" },
  { keys: ["+", "−"], does: "Timeline: zoom in or out" },
  { keys: ["Home"], does: "Timeline: show the whole run" },
];

/** By the `data-keys` attribute of the element that handles them, so the dialog lists only the shortcuts that work on this page. */
const KEYS_OF: Readonly<Record<string, readonly KeyHelp[]>> = { lab: LAB, picking: PICKING, timeline: TIMELINE };

/** Shortcuts of the elements on this page, and those that work on every page. */
export function keysOf(marks: readonly string[]): {
  readonly here: readonly KeyHelp[];
  readonly everywhere: readonly KeyHelp[];
} {
  return { here: [...new Set(marks)].flatMap((mark) => KEYS_OF[mark] ?? []), everywhere: EVERYWHERE };
}
