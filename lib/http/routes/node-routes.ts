import { armedPauseSchema } from "../../node/holder-pauses";
import { assignmentSchema, preparationSchema } from "../../node/run-assignment";
import {
  armedSchema,
  driftSchema,
  nodeRunSchema,
  nodeStatsSchema,
  nodeStrategySchema,
  pauseOutcomesSchema,
} from "./answers";
import { runId } from "./params";
import { strategyRequestSchema } from "./requests";
import type { Route } from "./route";

/** What the coordinator asks of a store node. All of it is the lab's own business, reading included. */

const control = { tag: "nodes", access: "admin", served: "control" } as const;
const ofRun = { ...control, params: { id: runId } } as const;
const done = { description: "Done.", schema: nodeRunSchema };

export const nodeRoutes: readonly Route[] = [
  {
    ...control,
    method: "get",
    path: "/api/node/strategy",
    summary: "This node's active strategy.",
    answers: { 200: { description: "Its id.", schema: nodeStrategySchema } },
    errors: [],
  },
  {
    ...control,
    method: "put",
    path: "/api/node/strategy",
    summary: "Switches this node.",
    body: strategyRequestSchema,
    answers: { 200: { description: "It has switched.", schema: nodeStrategySchema } },
    errors: ["unknown_strategy"],
  },
  {
    ...ofRun,
    method: "put",
    path: "/api/node/runs/{id}",
    summary: "Takes a run on.",
    body: assignmentSchema,
    answers: { 200: done },
    errors: ["unknown_strategy"],
  },
  {
    ...ofRun,
    method: "post",
    path: "/api/node/runs/{id}/prepare",
    summary: "Puts the target's stock where the strategy keeps it.",
    body: preparationSchema,
    answers: { 200: done },
    errors: ["unknown_strategy"],
  },
  {
    ...ofRun,
    method: "post",
    path: "/api/node/runs/{id}/close",
    summary: "Counts no new purchase for the run.",
    answers: { 200: done },
    errors: [],
  },
  {
    ...ofRun,
    method: "put",
    path: "/api/node/runs/{id}/pauses",
    summary: "Stops this node at the write of a holder of the run, once; it wakes by itself.",
    body: armedPauseSchema,
    answers: { 200: { description: "Armed.", schema: armedSchema } },
    errors: [],
  },
  {
    ...ofRun,
    method: "delete",
    path: "/api/node/runs/{id}/pauses",
    summary: "Calls off the pauses that have not happened.",
    answers: { 200: { description: "What became of each, in order.", schema: pauseOutcomesSchema } },
    errors: [],
  },
  {
    ...ofRun,
    method: "get",
    path: "/api/node/runs/{id}/stats",
    summary: "How the run goes on this node.",
    answers: { 200: { description: "Counts and histograms.", schema: nodeStatsSchema } },
    errors: [],
  },
  {
    ...ofRun,
    method: "get",
    path: "/api/node/runs/{id}/drift",
    summary: "What the run's strategy counts outside of PostgreSQL, beside the row.",
    answers: { 200: { description: "Null where it counts nothing.", schema: driftSchema } },
    errors: [],
  },
  {
    ...ofRun,
    method: "get",
    path: "/api/node/runs/{id}/history",
    summary: "This node's part of the history.",
    answers: { 200: { description: "One JSON object a line.", contentType: "application/x-ndjson" } },
    errors: [],
    isStream: true,
  },
];
