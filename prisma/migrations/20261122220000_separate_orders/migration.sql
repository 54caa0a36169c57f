-- AlterTable
ALTER TABLE "runs" ADD COLUMN     "separate_orders" JSONB;
