import { nextRoute } from "@/app/_lib/next-route";

export const { GET, POST } = nextRoute("/api/sweeps");
