import { activeStrategies, switchAllNodes } from "../../runs/active-strategy";
import { describeStrategies } from "../../runs/lab-description";
import { json } from "../answer";
import { type Route, route } from "../route";
import { logIn, logOut } from "../session";
import { activeStrategySchema, labDescriptionSchema, loggedInSchema, switchedSchema } from "./answer-schemas";
import { sessionRequestSchema, strategyRequestSchema } from "./request-schemas";

/** Strategies, and the dashboard's session. */
export const labRoutes: readonly Route[] = [
  route({
    method: "get",
    path: "/api/strategies",
    summary: "Describes the lab: strategies with traits and availability, servers, load generators, nodes.",
    tag: "lab",
    access: "anyone",
    answers: { 200: { description: "What this lab can run.", schema: labDescriptionSchema } },
    errors: [],
    handler: async () => json(await describeStrategies()),
  }),
  route({
    method: "get",
    path: "/api/strategy",
    summary: "Returns the strategy of purchases outside runs, for each node.",
    tag: "lab",
    access: "anyone",
    answers: { 200: { description: "The active strategy.", schema: activeStrategySchema } },
    errors: [],
    handler: async () => json(await activeStrategies()),
  }),
  route({
    method: "put",
    path: "/api/strategy",
    summary: "Switches all nodes to a strategy.",
    tag: "lab",
    access: "admin",
    body: strategyRequestSchema,
    answers: { 200: { description: "All nodes have switched.", schema: switchedSchema } },
    errors: ["unknown_strategy", "strategy_unavailable", "node_unavailable"],
    handler: async ({ body }) => json(await switchAllNodes(body.id)),
  }),
  route({
    method: "post",
    path: "/api/session",
    summary: "Logs in to the dashboard: exchanges the admin token for a cookie that scripts cannot read.",
    tag: "lab",
    access: "same-site",
    body: sessionRequestSchema,
    answers: {
      200: { description: "Logged in.", schema: loggedInSchema, headers: { "set-cookie": "The session." } },
    },
    errors: ["admin_token_wrong", "rate_limited"],
    handler: ({ body, raw }) => logIn(body.token, raw),
  }),
  route({
    method: "delete",
    path: "/api/session",
    summary: "Logs out: ends the session at every process of the lab.",
    tag: "lab",
    access: "same-site",
    answers: {
      200: { description: "Logged out.", schema: loggedInSchema, headers: { "set-cookie": "Removes the session." } },
    },
    errors: [],
    handler: ({ raw }) => logOut(raw),
  }),
];
