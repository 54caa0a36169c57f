/** Pages after the Lab, in header order: key 1 opens the Lab, keys 2, 3, 4 … open these. */
export const PAGES: readonly { readonly href: string; readonly label: string }[] = [
  { href: "/compare", label: "Compare" },
  { href: "/runs", label: "Runs" },
  { href: "/strategies", label: "Strategies" },
  { href: "/faults", label: "Faults" },
  { href: "/shop", label: "Shop" },
  { href: "/learn", label: "Learn" },
];
