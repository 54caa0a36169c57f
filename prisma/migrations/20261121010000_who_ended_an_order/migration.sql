-- AlterTable
ALTER TABLE "orders" ADD COLUMN     "ended_by" TEXT;

-- CreateIndex
CREATE INDEX "claims_of_visitors" ON "coupon_claims"("user_id") WHERE (user_id ~~ 'visitor-%');

