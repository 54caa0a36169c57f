import { nextRoutes } from "@/lib/http/next-route";
import { runViews } from "./run-views";

/** Makes the handlers of a route file: `export const { GET } = nextRoute("/api/products");`. The logic is in the route table. */
export const nextRoute = nextRoutes(runViews);
