import { activeStrategySchema, catalogueSchema, loggedInSchema, switchedSchema } from "./answers";
import { sessionRequestSchema, strategyRequestSchema } from "./requests";
import type { Route } from "./route";

export const labRoutes: readonly Route[] = [
  {
    method: "get",
    path: "/api/strategies",
    summary: "The catalogue: strategies with traits and availability, servers, engines, nodes.",
    tag: "lab",
    access: "anyone",
    served: "next",
    answers: { 200: { description: "What the lab can do here.", schema: catalogueSchema } },
    errors: [],
  },
  {
    method: "get",
    path: "/api/strategy",
    summary: "The strategy of purchases outside of runs, node by node.",
    tag: "lab",
    access: "anyone",
    served: "next",
    answers: { 200: { description: "The active strategy.", schema: activeStrategySchema } },
    errors: [],
  },
  {
    method: "put",
    path: "/api/strategy",
    summary: "Switches all nodes.",
    tag: "lab",
    access: "admin",
    served: "next",
    body: strategyRequestSchema,
    answers: { 200: { description: "Every node has switched.", schema: switchedSchema } },
    errors: ["unknown_strategy", "strategy_unavailable", "node_unavailable"],
  },
  {
    method: "post",
    path: "/api/session",
    summary: "Logs the dashboard in: the admin token for a cookie that scripts cannot read.",
    tag: "lab",
    access: "anyone",
    served: "next",
    body: sessionRequestSchema,
    answers: {
      200: { description: "Logged in.", schema: loggedInSchema, headers: { "set-cookie": "The session." } },
    },
    errors: ["admin_token_wrong", "cross_site", "rate_limited"],
  },
];
