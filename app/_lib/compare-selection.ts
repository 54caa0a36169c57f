/** The selection of the compare page; the URL's query carries all of it. */
export interface Selection {
  /** Runs by id. */
  readonly runs: readonly string[];
  /** Strategies: each stands for its newest finished run and that run's repeats. */
  readonly strategies: readonly string[];
  /** A sweep by its id. */
  readonly sweep: string | null;
  /** Key of the baseline group; null: the first group. */
  readonly base: string | null;
}

export const NO_SELECTION: Selection = { runs: [], strategies: [], sweep: null, base: null };

/** Upper limit of selected items: more curves in one chart are not distinguishable. */
export const MAX_PICKED = 40;

type Query = Readonly<Record<string, string | string[] | undefined>>;

function listIn(value: string | string[] | undefined): string[] {
  const parts = [value ?? []].flat().flatMap((text) => text.split(","));
  return [...new Set(parts.filter((part) => /^[a-z0-9-]{1,64}$/.test(part)))].slice(0, MAX_PICKED);
}

/** Ignores malformed values. */
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

/** Adds the id if it is missing, else removes it. */
export function toggled(list: readonly string[], id: string): string[] {
  return list.includes(id) ? list.filter((one) => one !== id) : [...list, id];
}
