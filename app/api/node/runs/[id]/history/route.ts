import { nextRoute } from "@/app/_lib/next-route";

export const { GET } = nextRoute("/api/node/runs/{id}/history");
