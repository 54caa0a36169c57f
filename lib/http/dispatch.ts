import { servesSales } from "../node/current-node";
import { guardAccess } from "./access";
import { type Answer, errorAnswer } from "./answer";
import { HttpError, notFound, toHttpError } from "./errors";
import { forwardToNode } from "./forward";
import { checkHeaders, parseBody, parseParams, parseQuery, readBody } from "./parse-request";
import { headerOf, type RawRequest } from "./raw-request";
import type { PathRoutes, RouteMatch } from "./route-matcher";
import type { RunViews } from "./run-views";

/** Guards, parses and answers a request by its table entry. Never rejects: an error is an answer too. */
export async function dispatch(raw: RawRequest, match: RouteMatch, views: RunViews): Promise<Answer> {
  const { routes } = match;
  const route = routes?.byMethod.get(raw.method);
  try {
    if (!routes) throw notFound(`${raw.method} ${raw.url.slice(0, 200)}`);
    if (!route) return answerOtherMethod(raw.method, routes);
    const guarded = guardAccess(route.access, raw);
    // Purchases need no session, and save the turn of an await.
    if (guarded) await guarded;
    const text = await readBody(route, raw);
    const params = parseParams(route, routes, match.values);
    const query = parseQuery(route, raw.url);
    checkHeaders(route, raw);
    const body = parseBody(route, text);
    if (route.runsAtStoreNode && !servesSales()) return await forwardToNode(raw, text);
    return await route.handler({ params, query, body, raw, views });
  } catch (error) {
    const described = route ?? routes?.byMethod.values().next().value;
    return errorAnswer(toHttpError(error, headerOf(raw.headers, "x-request-id")), described?.errorHeaders?.());
  }
}

function answerOtherMethod(method: string, { allow }: PathRoutes): Answer {
  if (method === "OPTIONS") return { status: 204, headers: { allow: `${allow}, OPTIONS` }, body: "", code: null };
  const message = `The route does not support ${method}. Use ${allow.replaceAll(", ", " or ")}.`;
  throw new HttpError({ code: "method_not_allowed", message, headers: { allow } });
}
