import { nextRoute } from "@/app/_lib/next-route";

export const { DELETE, GET, PATCH } = nextRoute("/api/runs/{id}");
