import { nextRoute } from "@/app/_lib/next-route";

export const { POST } = nextRoute("/api/runs/{id}/faults");
