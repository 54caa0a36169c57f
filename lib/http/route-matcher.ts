import type { Route } from "./route";
import { routes } from "./route-table";

/** The routes of one path of the table. */
export interface PathRoutes {
  readonly path: string;
  /** By method in capitals. HEAD is answered as GET. */
  readonly byMethod: ReadonlyMap<string, Route>;
  readonly paramNames: readonly string[];
  /** Value of the `Allow` header. */
  readonly allow: string;
  readonly isStream: boolean;
}

export interface RouteMatch {
  readonly kind: "api" | "asset" | "page";
  /** The path with parameter names in it, or a word for what is not in the table. Used as a metrics label, so few values. */
  readonly label: string;
  /** Null: not an API route, or an unknown one. */
  readonly routes: PathRoutes | null;
  /** The path's parameters in their order, not yet decoded. */
  readonly values: readonly string[];
}

const PAGE: RouteMatch = { kind: "page", label: "page", routes: null, values: [] };
const ASSET: RouteMatch = { kind: "asset", label: "asset", routes: null, values: [] };
const UNKNOWN_API: RouteMatch = { kind: "api", label: "unknown", routes: null, values: [] };

/** A path segment of the table: either names or one parameter may follow it, so matching never backtracks. */
interface Segment {
  readonly names: Map<string, Segment>;
  param: Segment | null;
  routes: PathRoutes | null;
}

const staticPaths = new Map<string, RouteMatch>();
const root = compile();

export function matchRoute(url: string): RouteMatch {
  const queryAt = url.indexOf("?");
  let path = queryAt < 0 ? url : url.slice(0, queryAt);
  if (path.length > 1 && path.endsWith("/")) path = path.slice(0, -1);
  const known = staticPaths.get(path);
  if (known) return known;
  if (path === "/api") return UNKNOWN_API;
  if (path.startsWith("/api/")) return matchParams(path) ?? UNKNOWN_API;
  return path.startsWith("/_next/") ? ASSET : PAGE;
}

function matchParams(path: string): RouteMatch | null {
  const values: string[] = [];
  let at: Segment | null = root;
  for (let from = 1; at && from <= path.length; ) {
    const slash = path.indexOf("/", from);
    const end = slash < 0 ? path.length : slash;
    const text = path.slice(from, end);
    const named: Segment | undefined = at.names.get(text);
    if (!named && text !== "") values.push(text);
    at = named ?? (text === "" ? null : at.param);
    from = end + 1;
  }
  return at?.routes ? { kind: "api", label: at.routes.path, routes: at.routes, values } : null;
}

function compile(): Segment {
  const top = segment();
  for (const path of new Set(routes.map((route) => route.path))) {
    const pathRoutes = pathRoutesOf(path);
    if (pathRoutes.paramNames.length === 0) {
      staticPaths.set(path, { kind: "api", label: path, routes: pathRoutes, values: [] });
      continue;
    }
    let at = top;
    for (const text of path.slice(1).split("/")) at = text.startsWith("{") ? paramOf(at, path) : nameOf(at, text, path);
    at.routes = pathRoutes;
  }
  return top;
}

function pathRoutesOf(path: string): PathRoutes {
  const entries = routes.filter((route) => route.path === path);
  const byMethod = new Map(entries.map((entry) => [entry.method.toUpperCase(), entry]));
  const get = byMethod.get("GET");
  if (get) byMethod.set("HEAD", get);
  return {
    path,
    byMethod,
    paramNames: [...path.matchAll(/\{([a-zA-Z]+)\}/g)].map(([, name = ""]) => name),
    allow: [...byMethod.keys()].join(", "),
    isStream: entries.some(({ isStream }) => isStream === true),
  };
}

function segment(): Segment {
  return { names: new Map(), param: null, routes: null };
}

function paramOf(at: Segment, path: string): Segment {
  if (at.names.size > 0) throw new TypeError(`${path} has a parameter where another path has a name`);
  at.param ??= segment();
  return at.param;
}

function nameOf(at: Segment, text: string, path: string): Segment {
  if (at.param) throw new TypeError(`${path} has a name where another path has a parameter`);
  const next = at.names.get(text) ?? segment();
  at.names.set(text, next);
  return next;
}
