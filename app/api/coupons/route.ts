import { apiRoute } from "@/lib/http/api-route";
import { listCoupons } from "@/lib/shop/queries";

export const dynamic = "force-dynamic";

export const GET = () => apiRoute(async () => ({ coupons: await listCoupons() }));
