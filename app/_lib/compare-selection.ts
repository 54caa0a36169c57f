/** What the compare page lays side by side; all of it lives in the URL's query. */
export interface Selection {
  /** Runs by id. */
  readonly runs: readonly string[];
  /** Strategies, each by its newest finished runs that were made alike. */
  readonly strategies: readonly string[];
  /** A sweep by its id. */
  readonly sweep: string | null;
  /** The group that the others are compared with; null: the first. */
  readonly base: string | null;
}

export const NO_SELECTION: Selection = { runs: [], strategies: [], sweep: null, base: null };

/** No more are laid over each other: nobody could tell them apart. */
export const MAX_PICKED = 40;

type Query = Readonly<Record<string, string | string[] | undefined>>;

function listIn(value: string | string[] | undefined): string[] {
  const parts = [value ?? []].flat().flatMap((text) => text.split(","));
  return [...new Set(parts.filter((part) => /^[a-z0-9-]{1,64}$/.test(part)))].slice(0, MAX_PICKED);
}

/** Whatever is malformed is left out. */
export function selectionFromQuery(query: Query): Selection {
  const [sweep] = listIn(query.sweep);
  const base = typeof query.base === "string" && query.base.length <= 64 ? query.base : null;
  return { runs: listIn(query.runs), strategies: listIn(query.strategies), sweep: sweep ?? null, base };
}

/** `runs=a,b&base=x`; empty for nothing. Commas stay readable. */
export function selectionQuery({ runs, strategies, sweep, base }: Partial<Selection>): string {
  const parts: [string, string][] = [];
  if (sweep) parts.push(["sweep", sweep]);
  if (strategies?.length) parts.push(["strategies", strategies.join(",")]);
  if (runs?.length) parts.push(["runs", runs.join(",")]);
  if (base) parts.push(["base", base]);
  return parts.map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll("%2C", ",")}`).join("&");
}

export function compareHref(selection: Partial<Selection>): string {
  const query = selectionQuery(selection);
  return query === "" ? "/compare" : `/compare?${query}`;
}

/** With it or without it. */
export function toggled(list: readonly string[], id: string): string[] {
  return list.includes(id) ? list.filter((one) => one !== id) : [...list, id];
}
