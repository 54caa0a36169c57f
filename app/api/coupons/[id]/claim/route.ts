import { nextRoute } from "@/app/_lib/next-route";

export const { DELETE, GET, PATCH, POST, PUT } = nextRoute("/api/coupons/{id}/claim");
