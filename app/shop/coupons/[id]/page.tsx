import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { CouponPage } from "../../../_components/shop/coupon-page";
import { readCoupon } from "../../../_lib/shop/shop-data";

export const dynamic = "force-dynamic";

interface PageProps {
  readonly params: Promise<{ id: string }>;
}

export async function generateMetadata({ params }: PageProps): Promise<Metadata> {
  return { title: (await readCoupon((await params).id))?.coupon.code ?? "Coupon not found" };
}

export default async function Page({ params }: PageProps) {
  const found = await readCoupon((await params).id);
  if (found === null) notFound();
  const { runId, ...initial } = found;
  return <CouponPage initial={initial} runId={runId} renderedAtEpochMs={Date.now()} />;
}
