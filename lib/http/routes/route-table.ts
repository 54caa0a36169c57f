import { labRoutes } from "./lab-routes";
import { nodeRoutes } from "./node-routes";
import { operationRoutes } from "./operation-routes";
import { orderRoutes } from "./order-routes";
import type { Route } from "./route";
import { runRoutes } from "./run-routes";
import { shopRoutes } from "./shop-routes";

/** Every route of the lab. A test holds it to the route files and to the routes ahead of Next. */
export const routes: readonly Route[] = [
  ...shopRoutes,
  ...orderRoutes,
  ...labRoutes,
  ...runRoutes,
  ...nodeRoutes,
  ...operationRoutes,
];
