import { listSweeps } from "../../runs/queries";
import { sweepRequestSchema } from "../../runs/sweep-request";
import { readLiveSweep, resumeSweep, startSweep, sweepRunner } from "../../runs/sweeps";
import { json } from "../answer";
import { notFound } from "../errors";
import { type Route, route } from "../route";
import { sweepCancelledSchema, sweepSchema, sweepsSchema } from "./answer-schemas";
import { sweepId } from "./fields";
import { sweepsQuerySchema } from "./request-schemas";

const read = { method: "get", tag: "runs", access: "anyone", isLarge: true } as const;
const change = { method: "post", tag: "runs", access: "admin" } as const;
const sweep = { description: "Every cell, with its run if it has one.", schema: sweepSchema };

/** Sweeps: repeats of several strategies with the same settings. */
export const sweepRoutes: readonly Route[] = [
  route({
    ...read,
    path: "/api/sweeps",
    summary: "Lists the newest sweeps with their progress.",
    query: sweepsQuerySchema,
    answers: { 200: { description: "Newest first.", schema: sweepsSchema } },
    errors: [],
    handler: async ({ query }) => json({ sweeps: await listSweeps(query.limit) }),
  }),
  route({
    ...change,
    path: "/api/sweeps",
    summary:
      "Starts a sweep. This process makes its runs one after the other; a sweep that it does not complete can be resumed.",
    body: sweepRequestSchema,
    answers: { 201: { ...sweep, headers: { location: "The sweep's URL." } } },
    errors: ["sweep_active", "unknown_strategy", "strategy_unavailable"],
    handler: async ({ body }) => {
      const started = await startSweep(body);
      return json(started, { status: 201, headers: { location: `/api/sweeps/${started.id}` } });
    },
  }),
  route({
    ...read,
    path: "/api/sweeps/{id}",
    summary: "Reads a sweep and its runs.",
    params: { id: sweepId },
    answers: { 200: sweep },
    errors: [],
    handler: async ({ params: { id } }) => {
      const found = await readLiveSweep(id);
      if (found === null) throw notFound(`sweep ${id}`);
      return json(found);
    },
  }),
  route({
    ...change,
    path: "/api/sweeps/{id}/resume",
    summary: "Makes the missing runs of a sweep, with the settings of its first run.",
    params: { id: sweepId },
    answers: { 200: sweep },
    errors: ["sweep_active", "unknown_strategy", "strategy_unavailable"],
    handler: async ({ params: { id } }) => {
      const resumed = await resumeSweep(id);
      if (resumed === null) throw notFound(`sweep ${id}`);
      return json(resumed);
    },
  }),
  route({
    ...change,
    path: "/api/sweeps/{id}/cancel",
    summary: "Cancels the sweep that this process makes, and stops its current run.",
    params: { id: sweepId },
    answers: { 200: { description: "The sweep opens no further run.", schema: sweepCancelledSchema } },
    errors: [],
    handler: async ({ params: { id } }) => {
      if (!(await sweepRunner().cancel(id))) throw notFound(`active sweep ${id}`);
      return json({ cancelled: true });
    },
  }),
];
