import { nextRoute } from "@/app/_lib/next-route";

export const { GET, PUT } = nextRoute("/api/node/strategy");
