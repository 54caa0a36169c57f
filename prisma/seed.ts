import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { type Prisma, PrismaClient } from "../generated/prisma/client";

/** The products and coupons of the shop. A repeated seed restores names and prices, adds missing rows, and keeps stock and orders. */

const PRODUCTS: readonly Prisma.ProductCreateInput[] = [
  {
    slug: "espresso-machine",
    name: "Espresso machine",
    description: "Two boilers, one lever, 58 mm basket. 100 at this price.",
    priceCents: 34_900,
    stock: 100,
    limitPerUser: 1,
  },
  {
    slug: "mechanical-keyboard",
    name: "Mechanical keyboard",
    description: "75 % layout, hot-swap sockets, aluminium case.",
    priceCents: 11_900,
    stock: 250,
  },
  {
    slug: "noise-cancelling-headphones",
    name: "Noise-cancelling headphones",
    description: "Closed back, 40 hours on one charge, folds flat. Reserved when it is paid.",
    priceCents: 17_900,
    stock: 150,
    stockOn: "payment",
  },
  {
    slug: "trail-running-shoes",
    name: "Trail running shoes",
    description: "6 mm drop, 4 mm lugs, drains in a minute.",
    priceCents: 12_900,
    stock: 80,
  },
  {
    slug: "cast-iron-skillet",
    name: "Cast-iron skillet",
    description: "26 cm, seasoned, outlives its owner.",
    priceCents: 4_900,
    stock: 500,
  },
  {
    slug: "concert-ticket",
    name: "Concert ticket, standing",
    description: "One night, one hall. Sale starts at 10:00.",
    priceCents: 7_900,
    stock: 1_000,
    limitPerUser: 4,
    requiresPurchaseToken: true,
  },
];

const COUPONS: readonly Prisma.CouponCreateInput[] = [
  { code: "FLASH50", name: "Half price on one item", discountPercent: 50, stock: 100 },
  { code: "WELCOME10", name: "Ten per cent on a first order", discountPercent: 10, stock: 1_000 },
  { code: "NIGHT25", name: "A quarter off, after midnight", discountPercent: 25, stock: 200 },
];

/**
 * When the lab starts, no lock is held. A restarted Redis counts its fencing tokens from 1 again, so a fence from an earlier start would
 * reject all of them.
 */
const NO_HOLDER = { fence: 0n };

export interface SeedCounts {
  readonly products: number;
  readonly coupons: number;
}

/** Creates or updates the products and coupons of the shop. Idempotent. */
export async function seed(databaseUrl: string): Promise<SeedCounts> {
  const pool = new pg.Pool({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000, max: 2 });
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  try {
    for (const { stock, ...kept } of PRODUCTS) {
      await prisma.product.upsert({
        where: { slug: kept.slug },
        create: { ...kept, stock },
        update: { ...kept, ...NO_HOLDER },
      });
    }
    for (const { stock, ...kept } of COUPONS) {
      await prisma.coupon.upsert({
        where: { code: kept.code },
        create: { ...kept, stock },
        update: { ...kept, ...NO_HOLDER },
      });
    }
    return { products: PRODUCTS.length, coupons: COUPONS.length };
  } finally {
    await prisma.$disconnect();
    await pool.end();
  }
}
