import { nextRoute } from "@/app/_lib/next-route";

export const { PUT } = nextRoute("/api/node/runs/{id}/routes");
