import { apiRoute } from "@/lib/http/api-route";
import { listProducts } from "@/lib/shop/queries";

export const dynamic = "force-dynamic";

export const GET = () => apiRoute(async () => ({ products: await listProducts() }));
