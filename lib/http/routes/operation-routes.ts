import { z } from "zod";
import { healthSchema, readinessSchema } from "./answers";
import type { Route } from "./route";

const probe = { method: "get", tag: "operation", access: "anyone", served: "probe" } as const;

export const operationRoutes: readonly Route[] = [
  {
    ...probe,
    path: "/healthz",
    summary: "Liveness: the process answers.",
    answers: { 200: { description: "It lives.", schema: healthSchema } },
    errors: [],
  },
  {
    ...probe,
    path: "/readyz",
    summary: "Readiness: PostgreSQL and the servers of the active strategy answer, and the node is not shutting down.",
    answers: {
      200: { description: "Ready.", schema: readinessSchema },
      503: { description: "Not ready, and why.", schema: readinessSchema },
    },
    errors: [],
  },
  {
    ...probe,
    path: "/metrics",
    summary: "For Prometheus.",
    answers: { 200: { description: "Text format 0.0.4.", contentType: "text/plain" } },
    errors: [],
  },
  {
    ...probe,
    path: "/api/openapi.json",
    served: "next",
    summary: "This document.",
    answers: { 200: { description: "OpenAPI 3.1.", schema: z.looseObject({ openapi: z.literal("3.1.0") }) } },
    errors: [],
  },
];
