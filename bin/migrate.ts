import { applyMigrations } from "../lib/services/migrations";
import { seed } from "../prisma/seed";
import { print } from "./shared/terminal";

/** Applies the migrations, seeds the shop, and exits: the one-shot service of docker-compose.yml. */
const databaseUrl = process.env.DATABASE_URL;
if (!databaseUrl) throw new Error("DATABASE_URL is not set. Set it to the database to migrate.");
const applied = await applyMigrations(databaseUrl);
print(applied.length > 0 ? `applied ${applied.join(", ")}` : "migrations up to date");
const counts = await seed(databaseUrl);
print(`${counts.products} products, ${counts.coupons} coupons`);
