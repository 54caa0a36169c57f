import { servesSales } from "../node/current-node";
import { guardAccess } from "./access";
import { type Answer, errorAnswer } from "./answer";
import { HttpError, notFound, toHttpError } from "./errors";
import { forwardToNode } from "./forward";
import { checkHeaders, parseBody, parseParams, parseQuery, readBody } from "./parse-request";
import { headerOf, type RawRequest } from "./raw-request";
import type { Route } from "./route";
import type { PathRoutes, RouteMatch } from "./route-matcher";
import type { RunViews } from "./run-views";

/** Guards, parses and answers a request by its table entry. Never rejects: an error is an answer too. */
export async function dispatch(raw: RawRequest, match: RouteMatch, views: RunViews): Promise<Answer> {
  const { routes } = match;
  const route = routes?.byMethod.get(raw.method);
  try {
    if (!routes) throw notFound(`${raw.method} ${raw.url.slice(0, 200)}`);
    if (!route) return answerOtherMethod(raw.method, routes);
    guardAccess(route.access, raw.headers);
    return await answerRoute(raw, { route, routes, values: match.values, views });
  } catch (error) {
    const described = route ?? routes?.byMethod.values().next().value;
    return errorAnswer(toHttpError(error, headerOf(raw.headers, "x-request-id")), described?.errorHeaders?.());
  }
}

interface Matched {
  readonly route: Route;
  readonly routes: PathRoutes;
  readonly values: readonly string[];
  readonly views: RunViews;
}

async function answerRoute(raw: RawRequest, { route, routes, values, views }: Matched): Promise<Answer> {
  const text = await readBody(route, raw);
  const params = parseParams(route, routes, values);
  const query = parseQuery(route, raw.url);
  checkHeaders(route, raw);
  const body = parseBody(route, text);
  if (route.runsAtStoreNode && !servesSales()) return forwardToNode(raw, text);
  return route.handler({ params, query, body, raw, views });
}

function answerOtherMethod(method: string, { allow }: PathRoutes): Answer {
  if (method === "OPTIONS") return { status: 204, headers: { allow: `${allow}, OPTIONS` }, body: "", code: null };
  const message = `The route does not support ${method}. Use ${allow.replaceAll(", ", " or ")}.`;
  throw new HttpError({ code: "method_not_allowed", message, headers: { allow } });
}
