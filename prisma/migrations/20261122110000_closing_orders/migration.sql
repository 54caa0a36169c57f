-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "closing_orders" BIGINT[] DEFAULT ARRAY[]::BIGINT[];

-- Runs that ended before keep all their orders.
UPDATE "runs" SET "closing_orders" = coalesce((SELECT array_agg("id") FROM "orders" WHERE "run_id" = "runs"."id"), '{}') ||
  coalesce((SELECT array_agg("id") FROM "coupon_claims" WHERE "run_id" = "runs"."id"), '{}')
WHERE "status" <> 'running';
