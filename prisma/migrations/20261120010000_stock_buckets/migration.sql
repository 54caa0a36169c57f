-- CreateTable
CREATE TABLE "stock_buckets" (
    "kind" TEXT NOT NULL,
    "target_id" INTEGER NOT NULL,
    "bucket" INTEGER NOT NULL,
    "units" INTEGER NOT NULL,

    CONSTRAINT "stock_buckets_pkey" PRIMARY KEY ("kind","target_id","bucket")
);
