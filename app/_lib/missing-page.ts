/** What a page says that has nothing to show: it names what its address asked for. */
export interface MissingPage {
  readonly title: string;
  readonly advice: string;
  readonly links: readonly (readonly [text: string, href: string])[];
}

const LAB = ["Open the Lab", "/"] as const;

interface Kind {
  readonly path: RegExp;
  readonly noun: string;
  readonly advice: string;
  readonly links: MissingPage["links"];
}

const KINDS: readonly Kind[] = [
  {
    path: /^\/runs\/([^/]+)/,
    noun: "run",
    advice: "It was deleted, or it was stored in another database: runs are stored in the lab's database.",
    links: [["See all runs", "/runs"], LAB],
  },
  {
    path: /^\/shop\/products\/([^/]+)/,
    noun: "product",
    advice: "It was deleted with its run, or the link is wrong.",
    links: [["Open the shop", "/shop"], LAB],
  },
  {
    path: /^\/shop\/coupons\/([^/]+)/,
    noun: "coupon",
    advice: "It was deleted with its run, or the link is wrong.",
    links: [["Open the shop", "/shop"], LAB],
  },
  {
    path: /^\/shop\/orders\/([^/]+)/,
    noun: "order page",
    advice: "Your orders are all on one page.",
    links: [["My orders", "/shop/orders"], LAB],
  },
  {
    path: /^\/strategies\/([^/]+)/,
    noun: "page for the strategy",
    advice: "The strategies are all on one page.",
    links: [["Strategies", "/strategies"], LAB],
  },
];

/** Longer ids would break the layout. */
const MAX_ID_LENGTH = 64;

export function missingPage(pathname: string): MissingPage {
  for (const { path, noun, advice, links } of KINDS) {
    const [, id] = path.exec(pathname) ?? [];
    if (id !== undefined) return { title: `There is no ${noun} ${shortened(decoded(id))}.`, advice, links };
  }
  return {
    title: `There is no page ${shortened(decoded(pathname))}.`,
    advice: "The link is wrong, or the page has moved.",
    links: [LAB, ["See all runs", "/runs"]],
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function shortened(text: string): string {
  return text.length > MAX_ID_LENGTH ? `${text.slice(0, MAX_ID_LENGTH)}…` : text;
}
