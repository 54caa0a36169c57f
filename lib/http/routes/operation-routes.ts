import { currentNode } from "../../node/current-node";
import { describeStrategy } from "../../runs/lab-description";
import { env } from "../../services/current-env";
import { metrics } from "../../services/metrics";
import {
  breakLockAnswerSchema,
  breakLockRequestSchema,
  driftAnswerSchema,
  driftQuerySchema,
  reconcileAnswerSchema,
  reconcileRequestSchema,
} from "../../shop/api";
import { breakLockOf } from "../../shop/break-lock";
import { driftOf, reconcileCounters } from "../../shop/counters";
import { json } from "../answer";
import { readiness, readinessAnswer } from "../readiness";
import { type Route, route } from "../route";
import { healthSchema, readinessSchema } from "./answer-schemas";

const probe = { method: "get", tag: "operation", access: "anyone" } as const;
const operator = { method: "post", tag: "operation", access: "admin" } as const;

/** For monitoring, and for an operator who repairs counters and locks. */
export const operationRoutes: readonly Route[] = [
  route({
    ...probe,
    path: "/healthz",
    summary: "Liveness: the process responds.",
    answers: { 200: { description: "The process responds.", schema: healthSchema } },
    errors: [],
    handler: () => json({ status: "ok", node: env().STORE_NODE }),
  }),
  route({
    ...probe,
    path: "/readyz",
    summary: "Readiness: PostgreSQL and the active strategy's servers respond, and the node is not shutting down.",
    answers: {
      200: { description: "Ready.", schema: readinessSchema },
      503: { description: "Not ready, with the reason.", schema: readinessSchema },
    },
    errors: [],
    handler: async () => readinessAnswer(await readiness()),
  }),
  route({
    ...probe,
    path: "/metrics",
    summary: "Metrics for Prometheus.",
    answers: { 200: { description: "Text format 0.0.4.", contentType: "text/plain" } },
    errors: [],
    handler: async () => {
      const { registry } = metrics();
      const headers = { "content-type": registry.contentType, "cache-control": "no-store" };
      return { status: 200, headers, body: await registry.metrics(), code: null };
    },
  }),
  route({
    ...probe,
    tag: "shop",
    path: "/api/stock/drift",
    summary: "Compares the counters that strategies keep outside PostgreSQL with the target's row.",
    query: driftQuerySchema,
    answers: { 200: { description: "One entry per counter.", schema: driftAnswerSchema } },
    errors: [],
    handler: async ({ query: target }) => json({ target, drift: await driftOf(currentNode(), target) }),
  }),
  route({
    ...operator,
    path: "/api/stock/reconcile",
    summary: "Repairs differences between counters and orders that crashes and lost replies have left.",
    body: reconcileRequestSchema,
    answers: { 200: { description: "The repairs.", schema: reconcileAnswerSchema } },
    errors: [],
    handler: async ({ body }) => json(await reconcileCounters(currentNode(), body)),
  }),
  route({
    ...operator,
    path: "/api/locks/break",
    summary: "Deletes a lock that does not expire, even if its holder is alive.",
    body: breakLockRequestSchema,
    answers: { 200: { description: "Whether the lock was held.", schema: breakLockAnswerSchema } },
    errors: ["unknown_strategy", "lock_expires_by_itself"],
    handler: async ({ body: { strategy, target } }) =>
      json(await breakLockOf({ strategy: describeStrategy(strategy).id, target })),
  }),
];
