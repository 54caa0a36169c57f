import { currentNode } from "../../node/current-node";
import { armedStopSchema, type StopOutcome } from "../../node/node-stops";
import { PROCESS_INSTANCE_ID } from "../../node/process-instance";
import { assignmentSchema, newRoutesSchema, preparationSchema } from "../../node/run-assignment";
import { stockStrategies } from "../../stock/stock-strategies";
import { json } from "../answer";
import { HttpError, invalidField, notFound } from "../errors";
import { type Route, route } from "../route";
import {
  armedSchema,
  driftSchema,
  nodeRunSchema,
  nodeStatsSchema,
  nodeStrategySchema,
  reservedSchema,
  settledSchema,
  stopOutcomesSchema,
} from "./answer-schemas";
import { runId } from "./fields";
import { strategyRequestSchema } from "./request-schemas";

const control = { tag: "nodes", access: "admin", maxBodyBytes: 16_384 } as const;
const ofRun = { ...control, params: { id: runId } } as const;
const stopOutcomes = { description: "The outcome of each stop, in order.", schema: stopOutcomesSchema };
const done = { description: "Done.", schema: nodeRunSchema };

/** What the coordinator calls on a store node. Reading requires the admin token too. */
export const nodeRoutes: readonly Route[] = [
  route({
    ...control,
    method: "get",
    path: "/api/node/strategy",
    summary: "Returns this node's active strategy.",
    answers: { 200: { description: "The strategy's id.", schema: nodeStrategySchema } },
    errors: [],
    handler: () => json(activeStrategy()),
  }),
  route({
    ...control,
    method: "put",
    path: "/api/node/strategy",
    summary: "Switches this node to a strategy.",
    body: strategyRequestSchema,
    answers: { 200: { description: "The node has switched.", schema: nodeStrategySchema } },
    errors: ["unknown_strategy"],
    handler: ({ body }) => {
      currentNode().switchStrategy(knownStrategy("id", body.id));
      return json(activeStrategy());
    },
  }),
  route({
    ...ofRun,
    method: "put",
    path: "/api/node/runs/{id}",
    summary: "Reserves a run's target on this node: the shop starts no purchase of it any more.",
    body: assignmentSchema,
    answers: { 200: { description: "The shop's work on the target that is still in flight.", schema: reservedSchema } },
    errors: ["unknown_strategy"],
    handler: ({ params: { id }, body }) => {
      if (body.runId !== id) throw invalidField("runId", "must be the run of the path");
      knownStrategy("strategy", body.strategy);
      const inFlight = currentNode().reserve(body);
      return json({ runId: id, node: currentNode().name, inFlight });
    },
  }),
  route({
    ...ofRun,
    method: "post",
    path: "/api/node/runs/{id}/prepare",
    summary: "Writes the target's stock to where the strategy keeps it.",
    body: preparationSchema,
    answers: { 200: done },
    errors: ["unknown_strategy"],
    handler: async ({ params: { id }, body }) => {
      knownStrategy("strategy", body.strategy);
      await currentNode().prepare(id, body);
      return json({ runId: id, node: currentNode().name });
    },
  }),
  route({
    ...ofRun,
    method: "delete",
    path: "/api/node/runs/{id}/prepare",
    summary: "Hands the target's stock back: a counter outside PostgreSQL no longer counts what the run left.",
    answers: { 200: done },
    errors: [],
    handler: async ({ params: { id } }) => {
      await currentNode().handBack(id);
      return json({ runId: id, node: currentNode().name });
    },
  }),
  route({
    ...ofRun,
    method: "post",
    path: "/api/node/runs/{id}/open",
    summary: "Opens a reserved run: purchases of its target now belong to it.",
    answers: { 200: done },
    errors: [],
    handler: ({ params: { id } }) => {
      if (!currentNode().open(id)) throw unknownRun(id);
      return json({ runId: id, node: currentNode().name });
    },
  }),
  route({
    ...ofRun,
    method: "put",
    path: "/api/node/runs/{id}/routes",
    summary: "Serves new purchases of an open run through these proxies. Purchases in progress end with their clients.",
    body: newRoutesSchema,
    answers: { 200: done },
    errors: [],
    handler: ({ params: { id }, body }) => {
      if (!currentNode().reroute(id, body.proxyPorts)) throw unknownRun(id);
      return json({ runId: id, node: currentNode().name });
    },
  }),
  route({
    ...ofRun,
    method: "post",
    path: "/api/node/runs/{id}/close",
    summary: "Stops counting new purchases for the run.",
    answers: { 200: done },
    errors: [],
    handler: ({ params: { id } }) => json({ runId: id, node: currentNode().name, known: currentNode().close(id) }),
  }),
  route({
    ...ofRun,
    method: "put",
    path: "/api/node/runs/{id}/stops",
    summary: "Arms a stop: this node's process pauses and resumes on its own, or is killed, once, at the given point.",
    body: armedStopSchema,
    answers: { 200: { description: "Armed.", schema: armedSchema } },
    errors: [],
    handler: ({ params: { id }, body }) => {
      const place = currentNode().armStop(id, body);
      if (place === null) throw unknownRun(id);
      return json({ runId: id, node: currentNode().name, place });
    },
  }),
  route({
    ...ofRun,
    method: "get",
    path: "/api/node/runs/{id}/stops",
    summary: "Returns the outcome of each stop of the run on this node, also after the node was killed and restarted.",
    answers: { 200: stopOutcomes },
    errors: [],
    handler: ({ params: { id } }) => json(stopAnswer(id, currentNode().stops.outcomes(id))),
  }),
  route({
    ...ofRun,
    method: "delete",
    path: "/api/node/runs/{id}/stops",
    summary: "Disarms the stops that have not happened.",
    answers: { 200: stopOutcomes },
    errors: [],
    handler: ({ params: { id } }) => json(stopAnswer(id, currentNode().stops.disarm(id))),
  }),
  route({
    ...ofRun,
    method: "get",
    path: "/api/node/runs/{id}/stats",
    summary: "Returns what this node has measured of the run.",
    answers: { 200: { description: "Counts and histograms.", schema: nodeStatsSchema } },
    errors: [],
    handler: ({ params: { id } }) => {
      const stats = currentNode().stats(id);
      if (!stats) throw unknownRun(id);
      return json(stats);
    },
  }),
  route({
    ...ofRun,
    method: "get",
    path: "/api/node/runs/{id}/drift",
    summary: "Compares the counter that the run's strategy keeps outside PostgreSQL with the row.",
    answers: { 200: { description: "Null if the strategy keeps no counter.", schema: driftSchema } },
    errors: [],
    handler: async ({ params: { id } }) => json(await currentNode().drift(id)),
  }),
  route({
    ...ofRun,
    method: "post",
    path: "/api/node/runs/{id}/settle",
    summary:
      "Settles the journal entries that the run's purchases left on this node, when none of them is in progress.",
    answers: { 200: { description: "Null if the strategy keeps no counter.", schema: settledSchema } },
    errors: [],
    handler: async ({ params: { id } }) => json(await currentNode().settle(id)),
  }),
  route({
    ...ofRun,
    method: "get",
    path: "/api/node/runs/{id}/history",
    summary: "Returns the operations of the run that this node has recorded.",
    answers: { 200: { description: "One JSON object per line.", contentType: "application/x-ndjson" } },
    errors: [],
    isStream: true,
    handler: ({ params: { id } }) => {
      const chunks = currentNode().history(id);
      if (!chunks) throw unknownRun(id);
      const headers = { "content-type": "application/x-ndjson", "cache-control": "no-store" };
      return { status: 200, headers, chunks, code: null };
    },
  }),
];

function stopAnswer(runId: string, outcomes: readonly StopOutcome[]) {
  return { runId, node: currentNode().name, instance: PROCESS_INSTANCE_ID, outcomes };
}

function activeStrategy() {
  const { activeStrategy: id, name: node } = currentNode();
  return { id, node };
}

/** @throws HttpError `unknown_strategy` that names the field */
function knownStrategy(field: string, id: string): string {
  if (stockStrategies.has(id)) return id;
  const message = `${field}: there is no strategy "${id}". GET /api/strategies lists the valid ids.`;
  throw new HttpError({ code: "unknown_strategy", message, details: { field } });
}

function unknownRun(id: string): HttpError {
  return notFound(`run ${id} on this node`);
}
