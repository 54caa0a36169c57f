import type { Metadata } from "next";
import { OrdersPage } from "../../_components/shop/orders-page";

export const dynamic = "force-dynamic";

export const metadata: Metadata = { title: "My orders" };

export default function Page() {
  return <OrdersPage renderedAtEpochMs={Date.now()} />;
}
