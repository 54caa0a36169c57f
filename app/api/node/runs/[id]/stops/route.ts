import { nextRoute } from "@/app/_lib/next-route";

export const { DELETE, GET, PUT } = nextRoute("/api/node/runs/{id}/stops");
