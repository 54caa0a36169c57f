import type { Metadata } from "next";
import type { ReactNode } from "react";
import { ShopProvider } from "../_components/shop/shop-provider";

export const metadata: Metadata = { title: { default: "Shop", template: "%s · Shop · Flash Sale Lab" } };

export default function ShopLayout({ children }: { children: ReactNode }) {
  return <ShopProvider>{children}</ShopProvider>;
}
