import { nextRoute } from "@/app/_lib/next-route";

export const { POST } = nextRoute("/api/node/runs/{id}/settle");
