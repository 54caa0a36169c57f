-- AlterTable
ALTER TABLE "coupon_claims" ADD COLUMN     "idempotency_key" TEXT;

-- AlterTable
ALTER TABLE "coupons" ADD COLUMN     "opens_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "orders" ADD COLUMN     "end_reason" TEXT,
ADD COLUMN     "ended_at" TIMESTAMPTZ(3),
ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "failed_payments" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "idempotency_key" TEXT,
ADD COLUMN     "paid_at" TIMESTAMPTZ(3),
ADD COLUMN     "purchase_token_id" TEXT,
ADD COLUMN     "status" TEXT NOT NULL DEFAULT 'pending',
ADD COLUMN     "stock_taken" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "products" ADD COLUMN     "opens_at" TIMESTAMPTZ(3),
ADD COLUMN     "payment_window_ms" INTEGER,
ADD COLUMN     "requires_purchase_token" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "stock_on" TEXT NOT NULL DEFAULT 'order';

-- CreateTable
CREATE TABLE "buyer_allowances" (
    "product_id" INTEGER NOT NULL,
    "user_id" TEXT NOT NULL,
    "units" INTEGER NOT NULL,
    "allowed" INTEGER NOT NULL,

    CONSTRAINT "buyer_allowances_pkey" PRIMARY KEY ("product_id","user_id")
);

-- CreateTable
CREATE TABLE "purchase_tokens" (
    "id" TEXT NOT NULL,
    "product_id" INTEGER NOT NULL,
    "user_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "issued_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "purchase_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "user_id" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "request_hash" TEXT NOT NULL,
    "claimed_by" TEXT NOT NULL,
    "claimed_until" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "status" INTEGER,
    "headers" JSONB,
    "body" TEXT,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("user_id","route","key")
);

-- CreateTable
CREATE TABLE "lab_secrets" (
    "name" TEXT NOT NULL,
    "value" TEXT NOT NULL,

    CONSTRAINT "lab_secrets_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE UNIQUE INDEX "purchase_tokens_product_id_user_id_number_key" ON "purchase_tokens"("product_id", "user_id", "number");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- CreateIndex
CREATE INDEX "orders_due" ON "orders"("expires_at") WHERE (status = 'pending' AND expires_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "orders_of_visitors" ON "orders"("user_id", "id") WHERE (user_id ~~ 'visitor-%');

-- CreateIndex
CREATE UNIQUE INDEX "orders_idempotency_key" ON "orders"("product_id", "user_id", "idempotency_key") WHERE (idempotency_key IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "orders_purchase_token" ON "orders"("purchase_token_id") WHERE (purchase_token_id IS NOT NULL);

-- AddForeignKey
ALTER TABLE "buyer_allowances" ADD CONSTRAINT "buyer_allowances_product_id_fkey" FOREIGN KEY ("product_id") REFERENCES "products"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "purchase_tokens" ADD CONSTRAINT "purchase_tokens_product_id_fkey" FOREIGN KEY ("product_id") REFERENCES "products"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The promise itself: a purchase beyond the limit is refused with all it would have written.
ALTER TABLE "buyer_allowances" ADD CONSTRAINT "buyer_allowances_units_check" CHECK ("units" BETWEEN 0 AND "allowed");

ALTER TABLE "products" ADD CONSTRAINT "products_stock_on_check" CHECK ("stock_on" IN ('order', 'payment'));

ALTER TABLE "orders" ADD CONSTRAINT "orders_status_check" CHECK ("status" IN ('pending', 'paid', 'cancelled', 'expired'));

-- What buyers of limited products have already.
INSERT INTO "buyer_allowances" ("product_id", "user_id", "units", "allowed")
SELECT o."product_id", o."user_id", sum(o."quantity"), greatest(p."limit_per_user", sum(o."quantity"))
FROM "orders" o JOIN "products" p ON p."id" = o."product_id"
WHERE p."limit_per_user" IS NOT NULL GROUP BY o."product_id", o."user_id", p."limit_per_user";
