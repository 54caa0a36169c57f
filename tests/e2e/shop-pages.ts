import type { APIRequestContext, Page } from "@playwright/test";

/** Helpers for tests of the shop's pages. */

export interface Product {
  readonly id: number;
  readonly slug: string;
  readonly stock: number;
}

export async function productOf(request: APIRequestContext, slug: string): Promise<Product> {
  const { products } = (await (await request.get("/api/products")).json()) as { products: Product[] };
  const product = products.find((one) => one.slug === slug);
  if (product === undefined) throw new Error(`the shop has no product ${slug}; run the seed again`);
  return product;
}

export async function stockOf(request: APIRequestContext, id: number): Promise<number> {
  const { product } = (await (await request.get(`/api/products/${id}`)).json()) as { product: Product };
  return product.stock;
}

/** Parts of a product page. */
export function parts(page: Page) {
  return {
    buy: page.getByTestId("buy"),
    left: page.getByTestId("left"),
    state: page.getByTestId("offer-state"),
    note: page.getByTestId("note").first(),
    served: page.getByTestId("served-by"),
    orders: page.getByTestId("order"),
    status: page.getByTestId("order-status"),
  };
}

/** Opens a product and waits until the shop has identified the visitor, which implies that React has hydrated the page. */
export async function openProduct(page: Page, id: number): Promise<void> {
  const known = page.waitForResponse((response) => response.url().endsWith("/api/orders") && response.ok());
  await page.goto(`/shop/products/${id}`);
  await known;
}
