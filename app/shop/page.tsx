import { SaleList } from "../_components/shop/sale-list";
import { readShelf } from "../_lib/shop/shop-data";

export const dynamic = "force-dynamic";

export default async function ShopPage() {
  const { products, coupons } = await readShelf();
  return <SaleList products={products} coupons={coupons} renderedAtEpochMs={Date.now()} />;
}
