import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { ProductPage } from "../../../_components/shop/product-page";
import { readProduct } from "../../../_lib/shop/shop-data";

export const dynamic = "force-dynamic";

interface PageProps {
  readonly params: Promise<{ id: string }>;
}

export async function generateMetadata({ params }: PageProps): Promise<Metadata> {
  return { title: (await readProduct((await params).id))?.product.name ?? "Product not found" };
}

export default async function Page({ params }: PageProps) {
  const found = await readProduct((await params).id);
  if (found === null) notFound();
  const { runId, ...initial } = found;
  return <ProductPage initial={initial} runId={runId} renderedAtEpochMs={Date.now()} />;
}
