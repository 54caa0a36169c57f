import { nextRoute } from "@/app/_lib/next-route";

export const { DELETE, POST } = nextRoute("/api/session");
