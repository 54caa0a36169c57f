import { z } from "zod";
import packageJson from "../../package.json";
import { json } from "./answer";
import { openApiDocument } from "./openapi";
import { type Route, route } from "./route";
import { evidenceRoutes } from "./routes/evidence-routes";
import { labRoutes } from "./routes/lab-routes";
import { nodeRoutes } from "./routes/node-routes";
import { operationRoutes } from "./routes/operation-routes";
import { orderRoutes } from "./routes/order-routes";
import { runListRoutes } from "./routes/run-list-routes";
import { runRoutes } from "./routes/run-routes";
import { shopRoutes } from "./routes/shop-routes";
import { sweepRoutes } from "./routes/sweep-routes";

/** Every route of the lab's API. A test compares it with the route files under `app/`. */
export const routes: readonly Route[] = [
  ...shopRoutes,
  ...orderRoutes,
  ...labRoutes,
  ...runListRoutes,
  ...runRoutes,
  ...sweepRoutes,
  ...evidenceRoutes,
  ...nodeRoutes,
  ...operationRoutes,
  route({
    method: "get",
    path: "/api/openapi.json",
    summary: "Returns this document.",
    tag: "operation",
    access: "anyone",
    answers: { 200: { description: "OpenAPI 3.1.", schema: z.looseObject({ openapi: z.literal("3.1.0") }) } },
    errors: [],
    isLarge: true,
    handler: () => json(openApiDocument(routes, packageJson.version)),
  }),
];
