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

const RUN: readonly KeyHelp[] = [
  { keys: ["←", "→"], does: "In the timeline: earlier, later" },
  { keys: ["+", "−"], does: "In the timeline: closer, wider" },
  { keys: ["Home"], does: "In the timeline: the whole run" },
];

/** What the page of this path has, then what works on all of them. */
export function keysOf(pathname: string): {
  readonly here: readonly KeyHelp[];
  readonly everywhere: readonly KeyHelp[];
} {
  if (pathname === "/") return { here: LAB, everywhere: EVERYWHERE };
  if (pathname === "/compare" || pathname === "/runs") return { here: PICKING, everywhere: EVERYWHERE };
  return { here: /^\/runs\/./.test(pathname) ? RUN : [], everywhere: EVERYWHERE };
}
