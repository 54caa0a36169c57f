import { z } from "zod";
import { armedFaultSchema } from "../../faults/request";
import { runDocumentSchema } from "../../runs/document";
import { withGeneratorCpu } from "../../runs/engines/cpu-watch";
import { coordinator, openRun, stopRun } from "../../runs/lab";
import { latestRunPerStrategy, readSamples } from "../../runs/queries";
import { finishRequestSchema, runRequestSchema } from "../../runs/run-request";
import { json } from "../answer";
import { findRun } from "../find-run";
import { headerOf } from "../raw-request";
import { type Route, route } from "../route";
import { runFeeds } from "../run-feeds";
import { runsSchema, samplesSchema } from "./answer-schemas";
import { runId } from "./fields";

const read = { method: "get", tag: "runs", access: "anyone", isLarge: true } as const;
const document = { description: "The run document.", schema: runDocumentSchema };

/** A run's life. */
export const runRoutes: readonly Route[] = [
  route({
    method: "post",
    path: "/api/runs",
    summary: "Opens a run on every node. With `launch`, the lab also starts the load.",
    tag: "runs",
    access: "admin",
    body: runRequestSchema,
    answers: {
      201: {
        ...document,
        headers: {
          location: "The run's URL.",
          "x-run-key": "The key that exempts the run's load from the rate limit.",
        },
      },
    },
    errors: [
      "run_active",
      "unknown_strategy",
      "strategy_unavailable",
      "target_not_found",
      "engine_unavailable",
      "node_unavailable",
      "too_many_nodes",
      "too_many_buyers",
      "invalid_fault",
      "fault_not_applicable",
    ],
    handler: async ({ body }) => {
      const opened = await openRun(body);
      const headers = { location: `/api/runs/${opened.id}`, "x-run-key": coordinator().runKey(opened.id) ?? "" };
      return json(opened, { status: 201, headers });
    },
  }),
  route({
    ...read,
    path: "/api/runs/latest",
    summary: "Returns the last finished run of each strategy.",
    answers: { 200: { description: "One per strategy.", schema: runsSchema } },
    errors: [],
    handler: async () => json({ runs: await latestRunPerStrategy() }),
  }),
  route({
    ...read,
    path: "/api/runs/{id}",
    summary: "Reads a run.",
    params: { id: runId },
    answers: { 200: document },
    errors: [],
    handler: async ({ params: { id } }) => json(await findRun(id)),
  }),
  route({
    method: "post",
    path: "/api/runs/{id}/finish",
    summary: "Ends a run whose load is over: closes it on every node, checks its history and draws the verdict.",
    tag: "runs",
    access: "admin",
    params: { id: runId },
    body: finishRequestSchema,
    answers: { 200: document },
    errors: ["run_not_found", "node_unavailable"],
    handler: async ({ params: { id }, body: { client, ...finish } }) =>
      json(await coordinator().finish(id, { ...finish, ...(client ? { client: withGeneratorCpu(id, client) } : {}) })),
  }),
  route({
    method: "post",
    path: "/api/runs/{id}/stop",
    summary: "Stops a run before its load is complete, and checks what was recorded. An ended run does not change.",
    tag: "runs",
    access: "admin",
    params: { id: runId },
    answers: { 200: document },
    errors: ["run_not_found", "node_unavailable"],
    handler: async ({ params: { id } }) => json(await stopRun(id)),
  }),
  route({
    method: "post",
    path: "/api/runs/{id}/faults",
    summary: "Injects a fault into a run in progress, now or in `inMs`. The fault is added to the run's settings.",
    tag: "runs",
    access: "admin",
    params: { id: runId },
    body: armedFaultSchema,
    answers: { 200: document },
    errors: ["run_not_found", "run_not_running", "invalid_fault", "fault_not_applicable"],
    handler: async ({ params: { id }, body }) => json(await coordinator().armFault(id, body)),
  }),
  route({
    ...read,
    // Compression would hold small events back.
    isLarge: false,
    path: "/api/runs/{id}/events",
    summary:
      "Streams the run as server-sent events: `run`, then `sample`s, then `finished`. A late client gets past samples too.",
    params: { id: runId },
    headers: {
      "last-event-id": { schema: z.string().max(32), description: "The client has the samples up to this number." },
    },
    answers: { 200: { description: "The live feed.", contentType: "text/event-stream" } },
    errors: ["too_many_streams"],
    isStream: true,
    handler: async ({ params: { id }, raw }) => {
      const lastId = Number.parseInt(headerOf(raw.headers, "last-event-id") ?? "0", 10);
      const afterSeq = Number.isNaN(lastId) ? 0 : lastId;
      return runFeeds().watch({ id, afterSeq, clientClosed: raw.closeSignal() });
    },
  }),
  route({
    ...read,
    path: "/api/runs/{id}/samples",
    summary: "Returns the samples that the live feed has sent so far.",
    params: { id: runId },
    answers: { 200: { description: "In order.", schema: samplesSchema } },
    errors: [],
    handler: async ({ params }) => {
      const { id } = await findRun(params.id);
      return json({ samples: await readSamples(id) });
    },
  }),
];
