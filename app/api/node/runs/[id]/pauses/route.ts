import { nextRoute } from "@/app/_lib/next-route";

export const { DELETE, PUT } = nextRoute("/api/node/runs/{id}/pauses");
