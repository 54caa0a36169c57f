import { routes } from "./route-table";

/** What the front door must know of a path before anybody reads the request. */
export interface RouteMatch {
  /** The route's pattern, or one of few words: labels must be few. */
  readonly label: string;
  /** Methods that are answered; null where the handler itself says. */
  readonly allows: readonly string[] | null;
  readonly isPage: boolean;
  readonly isStream: boolean;
}

const PAGE: RouteMatch = { label: "page", allows: ["GET", "HEAD"], isPage: true, isStream: false };
const ASSET: RouteMatch = { label: "asset", allows: ["GET", "HEAD"], isPage: false, isStream: false };
const UNKNOWN_API: RouteMatch = { label: "unknown", allows: null, isPage: false, isStream: false };

interface Compiled {
  readonly pattern: RegExp;
  readonly match: RouteMatch;
}

const byPath = compile();
/** Hot routes first: they are the ones whose time counts. */
const compiled = [...byPath.filter(isHot), ...byPath.filter((entry) => !isHot(entry))];

export function matchRoute(url: string): RouteMatch {
  const path = url.split("?", 1)[0] ?? "/";
  for (const { pattern, match } of compiled) if (pattern.test(path)) return match;
  if (path.startsWith("/api/")) return UNKNOWN_API;
  return path.startsWith("/_next/") ? ASSET : PAGE;
}

function isHot({ match }: Compiled): boolean {
  return /\/(reduce-stock|claim)$/.test(match.label);
}

function compile(): Compiled[] {
  const paths = [...new Set(routes.map(({ path }) => path))];
  return paths.map((path) => {
    const here = routes.filter((route) => route.path === path);
    const methods = here.map(({ method }) => method.toUpperCase());
    const allows = methods.includes("GET") ? [...methods, "HEAD"] : methods;
    const pattern = new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{[a-zA-Z]+\}/g, "[^/]+")}/?$`);
    const isStream = here.some((route) => route.isStream === true);
    // Hot and control routes name what they allow themselves, so that both ways in say the same.
    const isOwn = here.some(({ served }) => served === "hot" || served === "control");
    return { pattern, match: { label: path, allows: isOwn ? null : allows, isPage: false, isStream } };
  });
}
