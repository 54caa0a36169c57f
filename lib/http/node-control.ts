import type { z } from "zod";
import { currentNode } from "../node/current-node";
import { armedPauseSchema } from "../node/holder-pauses";
import { assignmentSchema, preparationSchema } from "../node/run-assignment";
import type { StoreNode } from "../node/store-node";
import { stockStrategies } from "../stock/stock-strategies";
import { guardAdmin, type RequestOrigin } from "./admin-guard";
import { errorBody, HttpError, invalidField, notFound, toHttpError } from "./errors";
import { fromIssues } from "./hot-path";
import { strategyRequestSchema } from "./routes/requests";

/** What the coordinator asks of a store node: `/api/node/...`, served by `server.ts` ahead of Next. */
export interface ControlRequest extends RequestOrigin {
  readonly method: string;
  /** Path behind `/api/node/`. */
  readonly path: string;
  readonly body: string | null;
}

export interface ControlResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Iterable<string>;
}

export async function handleControl(request: ControlRequest): Promise<ControlResponse> {
  try {
    guardAdmin(request);
    return await route(request);
  } catch (error) {
    const { options } = toHttpError(error);
    return { status: options.status, headers: jsonHeaders, body: JSON.stringify(errorBody(options)) };
  }
}

const jsonHeaders = { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" };

async function route(request: ControlRequest): Promise<ControlResponse> {
  const node = currentNode();
  const [area, runId, action] = request.path.split("/");
  const call = `${request.method} ${area}${runId === undefined ? "" : "/:id"}${action === undefined ? "" : `/${action}`}`;
  switch (call) {
    case "GET strategy":
      return json({ id: node.activeStrategy, node: node.name });
    case "PUT strategy":
      node.switchStrategy(knownStrategy("id", parse(strategyRequestSchema, request.body).id));
      return json({ id: node.activeStrategy, node: node.name });
    case "PUT runs/:id": {
      const assignment = parse(assignmentSchema, request.body);
      if (assignment.runId !== runId) throw invalidField("runId", "is not the run of the path");
      knownStrategy("strategy", assignment.strategy);
      node.assign(assignment);
      return json({ runId, node: node.name });
    }
    case "POST runs/:id/prepare": {
      const preparation = parse(preparationSchema, request.body);
      knownStrategy("strategy", preparation.strategy);
      await node.prepare(preparation);
      return json({ runId, node: node.name });
    }
    case "POST runs/:id/close":
      return json({ runId, node: node.name, known: node.close(runId ?? "") });
    case "PUT runs/:id/pauses": {
      const id = openRunOf(node, runId);
      const place = node.pauses.arm(id, parse(armedPauseSchema, request.body));
      return json({ runId: id, node: node.name, place });
    }
    case "DELETE runs/:id/pauses":
      return json({ runId, node: node.name, outcomes: node.pauses.disarm(runId ?? "") });
    case "GET runs/:id/stats":
      return json(node.stats(runId ?? "") ?? unknownRun(runId));
    case "GET runs/:id/drift":
      return json(await node.drift(runId ?? ""));
    case "GET runs/:id/history": {
      const run = node.run(runId ?? "") ?? unknownRun(runId);
      const headers = { ...jsonHeaders, "content-type": "application/x-ndjson" };
      return { status: 200, headers, body: ndjson(run.recorder.lines()) };
    }
    default:
      throw new HttpError({
        status: 404,
        code: "not_found",
        message: `There is no ${request.method} ${request.path}.`,
      });
  }
}

/** @throws HttpError 400 `unknown_strategy` that names the field */
function knownStrategy(field: string, id: string): string {
  if (stockStrategies.has(id)) return id;
  const message = `${field}: there is no strategy "${id}".`;
  throw new HttpError({ status: 400, code: "unknown_strategy", message, details: { field } });
}

/** @throws HttpError 404 for a run that is not open on this node: nothing would ever call off what is armed for it */
function openRunOf(node: StoreNode, runId = ""): string {
  const run = node.run(runId);
  return run && !run.closed ? runId : unknownRun(runId);
}

function unknownRun(runId: string | undefined): never {
  throw notFound(`run ${runId ?? ""} on this node`);
}

function* ndjson(lines: Iterable<unknown>): Generator<string> {
  for (const line of lines) yield `${JSON.stringify(line)}\n`;
}

function json(body: unknown): ControlResponse {
  return { status: 200, headers: jsonHeaders, body: JSON.stringify(body) };
}

function parse<T>(schema: z.ZodType<T>, body: string | null): T {
  let value: unknown;
  try {
    value = JSON.parse(body ?? "");
  } catch {
    throw invalidField("body", "is not JSON");
  }
  const result = schema.safeParse(value);
  if (!result.success) throw fromIssues(result.error.issues);
  return result.data;
}
