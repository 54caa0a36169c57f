import { SaleList } from "../_components/shop/sale-list";
import { readOffers } from "../_lib/shop/shop-data";

export const dynamic = "force-dynamic";

export default async function ShopPage() {
  const { products, coupons } = await readOffers();
  return <SaleList products={products} coupons={coupons} renderedAtEpochMs={Date.now()} />;
}
