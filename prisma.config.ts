import { defineConfig } from "prisma/config";

// Only Prisma's own commands need the URL; the app passes its pool to the adapter (lib/services/postgres.ts).
export default defineConfig({
  schema: "prisma/schema.prisma",
  migrations: { path: "prisma/migrations" },
  datasource: { url: process.env.DATABASE_URL ?? "postgresql://127.0.0.1:15432/flash_sale_lab" },
});
