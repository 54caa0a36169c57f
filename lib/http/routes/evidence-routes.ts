import { z } from "zod";
import { spansWithin } from "../../history/timeline";
import { evidenceOf } from "../../runs/evidence";
import { historyLines } from "../../runs/history-export";
import { json } from "../answer";
import { HttpError, notFound } from "../errors";
import { findEndedRun } from "../find-run";
import { type Route, route } from "../route";
import { evidenceSchema, findingsSchema, seriesSchema, timelineSchema } from "./answer-schemas";
import { findingName, runId } from "./fields";
import { exportQuerySchema, timelineQuerySchema } from "./request-schemas";

const ended = {
  method: "get",
  tag: "runs",
  access: "anyone",
  isLarge: true,
  params: { id: runId },
  errors: ["run_running"],
} as const;

/** What the history of an ended run shows. */
export const evidenceRoutes: readonly Route[] = [
  route({
    ...ended,
    path: "/api/runs/{id}/history",
    summary: "Returns the recorded operations (docs/history-format.md).",
    answers: { 200: { description: "One JSON object per line.", contentType: "application/x-ndjson" } },
    isStream: true,
    handler: async ({ params }) => {
      const document = await findEndedRun(params.id);
      const headers = {
        "content-type": "application/x-ndjson",
        "content-disposition": `attachment; filename="history-${document.id}.ndjson"`,
        "cache-control": "no-store",
      };
      return { status: 200, headers, chunks: historyLines(document), code: null };
    },
  }),
  route({
    ...ended,
    path: "/api/runs/{id}/findings",
    summary: "Returns the checkers' findings.",
    answers: { 200: { description: "Each finding has a name for links.", schema: findingsSchema } },
    handler: async ({ params }) => {
      const { verdict, violations, operations, findings } = await evidenceOf(await findEndedRun(params.id));
      return json({ verdict, violations, operations, findings });
    },
  }),
  route({
    ...ended,
    path: "/api/runs/{id}/findings/{name}",
    summary: "Explains a finding step by step.",
    params: { id: runId, name: findingName },
    answers: { 200: { description: "The purchases and their steps.", schema: z.looseObject({}) } },
    handler: async ({ params: { id, name } }) => {
      const { explain } = await evidenceOf(await findEndedRun(id));
      const explained = explain(name);
      if (explained === null) throw notFound(`finding ${name}`);
      return json(explained);
    },
  }),
  route({
    ...ended,
    path: "/api/runs/{id}/timeline",
    summary: "Returns when each purchase waited for the lock and held it, per node, as columns.",
    query: timelineQuerySchema,
    answers: { 200: { description: "The spans between `fromUs` and `toUs`.", schema: timelineSchema } },
    handler: async ({ params, query }) => {
      const { timeline, faults } = await evidenceOf(await findEndedRun(params.id));
      const { fromUs, toUs = timeline.endUs } = query;
      const isWhole = fromUs === 0 && toUs >= timeline.endUs;
      return json({ ...timeline, faults, spans: isWhole ? timeline.spans : spansWithin(timeline, fromUs, toUs) });
    },
  }),
  route({
    ...ended,
    path: "/api/runs/{id}/series",
    summary: "Returns the run over time, in steps of equal length, derived from its history.",
    answers: {
      200: {
        description: "One value per step. Null if nothing was recorded, or if the nodes' clocks differ.",
        schema: seriesSchema,
      },
    },
    handler: async ({ params }) => {
      const { series, faults } = await evidenceOf(await findEndedRun(params.id));
      return json({ series, faults });
    },
  }),
  route({
    ...ended,
    path: "/api/runs/{id}/evidence",
    summary: "Returns what the run's page shows first: lanes, findings, and the first finding step by step.",
    answers: { 200: { description: "Without the spans, which `timeline` returns.", schema: evidenceSchema } },
    handler: async ({ params, views }) => json(await views.loadInitialEvidence(await findEndedRun(params.id))),
  }),
  route({
    ...ended,
    path: "/api/runs/{id}/export",
    summary: "Exports the run as JSON, CSV, HdrHistogram percentiles or one HTML page (docs/exports.md).",
    query: exportQuerySchema,
    answers: {
      200: {
        description: "The file, with the content type of its format.",
        contentType: ["application/json", "text/csv", "text/plain", "text/html"],
      },
    },
    errors: ["run_running", "no_histogram"],
    isStream: true,
    handler: async ({ params, query, views }) => {
      const file = await views.exportRun(await findEndedRun(params.id), query);
      if (file === null) throw new HttpError({ code: "no_histogram" });
      const headers = {
        "content-type": file.contentType,
        "content-disposition": `attachment; filename="${file.name}"`,
        "cache-control": "no-store",
      };
      return { status: 200, headers, body: file.body, code: null };
    },
  }),
];
