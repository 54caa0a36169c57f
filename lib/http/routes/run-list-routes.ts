import { runDocumentSchema } from "../../runs/document";
import { deleteRun, renameRequestSchema, renameRun } from "../../runs/edit-run";
import { listRuns } from "../../runs/run-list";
import { json } from "../answer";
import { notFound } from "../errors";
import { findEndedRun } from "../find-run";
import { type Route, route } from "../route";
import { deletedSchema, runListSchema } from "./answer-schemas";
import { runId } from "./fields";
import { runsQuerySchema } from "./request-schemas";

/** The list of runs, and the changes to stored runs. */
export const runListRoutes: readonly Route[] = [
  route({
    method: "get",
    path: "/api/runs",
    summary: "Lists runs, newest first, in pages of `limit` runs, by strategy, verdict, requested fault or sweep.",
    tag: "runs",
    access: "anyone",
    isLarge: true,
    query: runsQuerySchema,
    answers: {
      200: {
        description: "A page of runs, the number of runs on all pages, and the run that is being opened.",
        schema: runListSchema,
      },
    },
    errors: [],
    handler: async ({ query: { limit, ...filter } }) => json(await listRuns(limit, filter)),
  }),
  route({
    method: "patch",
    path: "/api/runs/{id}",
    summary: "Names a run that has ended.",
    tag: "runs",
    access: "admin",
    params: { id: runId },
    body: renameRequestSchema,
    answers: { 200: { description: "The run document.", schema: runDocumentSchema } },
    errors: ["run_running"],
    handler: async ({ params: { id }, body: { name } }) => {
      await findEndedRun(id);
      const renamed = await renameRun(id, name);
      if (renamed === null) throw notFound(`run ${id}`);
      return json(renamed);
    },
  }),
  route({
    method: "delete",
    path: "/api/runs/{id}",
    summary: "Deletes a run that has ended, its history, and the row that it created for itself. It cannot be undone.",
    tag: "runs",
    access: "admin",
    params: { id: runId },
    answers: { 200: { description: "The run no longer exists.", schema: deletedSchema } },
    errors: ["run_running"],
    handler: async ({ params: { id } }) => {
      if (!(await deleteRun(await findEndedRun(id)))) throw notFound(`run ${id}`);
      return json({ deleted: true });
    },
  }),
];
