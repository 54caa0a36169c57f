/** The pages beside the Lab, in the order of the header; keys 2, 3, 4 … lead to them, 1 to the Lab. */
export const PAGES: readonly { readonly href: string; readonly label: string }[] = [
  { href: "/compare", label: "Compare" },
  { href: "/runs", label: "Runs" },
  { href: "/strategies", label: "Strategies" },
  { href: "/shop", label: "Shop" },
];
