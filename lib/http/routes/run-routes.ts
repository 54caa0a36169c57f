import { z } from "zod";
import { finishRequestSchema, runDocumentSchema, runRequestSchema } from "../../runs/document";
import {
  evidenceSchema,
  findingsSchema,
  runsSchema,
  samplesSchema,
  seriesSchema,
  sweepSchema,
  sweepsSchema,
  timelineSchema,
} from "./answers";
import { runId } from "./params";
import { exportQuerySchema, runsQuerySchema, sweepsQuerySchema, timelineQuerySchema } from "./requests";
import type { Route } from "./route";

const read = { method: "get", tag: "runs", access: "anyone", served: "next" } as const;
const one = { ...read, params: { id: runId } } as const;
const document = { description: "The run document.", schema: runDocumentSchema };

export const runRoutes: readonly Route[] = [
  {
    ...read,
    path: "/api/runs",
    summary: "The newest runs.",
    query: runsQuerySchema,
    answers: { 200: { description: "Newest first.", schema: runsSchema } },
    errors: [],
  },
  {
    method: "post",
    path: "/api/runs",
    summary: "Opens a run on every node; with `launch` the lab sends the load itself.",
    tag: "runs",
    access: "admin",
    served: "next",
    body: runRequestSchema,
    answers: {
      201: {
        ...document,
        headers: {
          location: "Where the run is.",
          "x-run-key": "The key with which the run's load is held to no rate.",
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
      "invalid_fault",
      "fault_not_applicable",
    ],
  },
  {
    ...read,
    path: "/api/runs/latest",
    summary: "The last finished run of every strategy that has one.",
    answers: { 200: { description: "One a strategy.", schema: runsSchema } },
    errors: [],
  },
  { ...one, path: "/api/runs/{id}", summary: "One run.", answers: { 200: document }, errors: [] },
  {
    method: "post",
    path: "/api/runs/{id}/finish",
    summary: "The load is over: closes the run on every node, judges it.",
    tag: "runs",
    access: "admin",
    served: "next",
    params: { id: runId },
    body: finishRequestSchema,
    answers: { 200: document },
    errors: ["run_not_found", "node_unavailable"],
  },
  {
    ...one,
    path: "/api/runs/{id}/events",
    summary: "Server-sent events: `run`, then `sample`s, then `finished`. A late joiner gets the past first.",
    headers: {
      "last-event-id": { schema: z.string().max(32), description: "Samples up to this number have been seen." },
    },
    answers: { 200: { description: "The live feed.", contentType: "text/event-stream" } },
    errors: [],
    isStream: true,
  },
  {
    ...one,
    path: "/api/runs/{id}/history",
    summary: "The recorded operations (docs/history-format.md).",
    answers: { 200: { description: "One JSON object a line.", contentType: "application/x-ndjson" } },
    errors: ["run_running"],
    isStream: true,
  },
  {
    ...one,
    path: "/api/runs/{id}/samples",
    summary: "What the live feed has sent so far.",
    answers: { 200: { description: "In order.", schema: samplesSchema } },
    errors: [],
  },
  {
    ...one,
    path: "/api/runs/{id}/findings",
    summary: "What the checkers find in the run's history.",
    answers: { 200: { description: "Findings, each with the name it is linked to by.", schema: findingsSchema } },
    errors: ["run_running"],
  },
  {
    ...one,
    path: "/api/runs/{id}/findings/{name}",
    summary: "One finding and how it came about.",
    params: { id: runId, name: z.string().max(64).describe("As the list of findings has it.") },
    answers: { 200: { description: "Step by step.", schema: z.looseObject({}) } },
    errors: ["run_running"],
  },
  {
    ...one,
    path: "/api/runs/{id}/timeline",
    summary: "Who was inside, node by node, as columns.",
    query: timelineQuerySchema,
    answers: { 200: { description: "The spans.", schema: timelineSchema } },
    errors: ["run_running"],
  },
  {
    ...one,
    path: "/api/runs/{id}/series",
    summary: "The run over time, in steps of one length worked out of its history.",
    answers: {
      200: { description: "A value a step; null where nothing was recorded on one clock.", schema: seriesSchema },
    },
    errors: ["run_running"],
  },
  {
    ...one,
    path: "/api/runs/{id}/evidence",
    summary: "What a page opens a run's evidence with: lanes, findings, and the first of them step by step.",
    answers: { 200: { description: "The spans are at `timeline`.", schema: evidenceSchema } },
    errors: ["run_running"],
  },
  {
    ...one,
    path: "/api/runs/{id}/export",
    summary: "The run as a file: JSON, CSV, HdrHistogram's percentiles, or one HTML page (docs/exports.md).",
    query: exportQuerySchema,
    answers: {
      200: {
        description: "The file, of the content type of its format.",
        contentType: ["application/json", "text/csv", "text/plain", "text/html"],
      },
    },
    errors: ["run_running", "no_histogram"],
    isStream: true,
  },
  {
    ...read,
    path: "/api/sweeps",
    summary: "The newest sweeps, with how far each has come.",
    query: sweepsQuerySchema,
    answers: { 200: { description: "Newest first.", schema: sweepsSchema } },
    errors: [],
  },
  {
    ...one,
    path: "/api/sweeps/{id}",
    summary: "A sweep as its runs tell it.",
    answers: { 200: { description: "Every cell.", schema: sweepSchema } },
    errors: [],
  },
];
