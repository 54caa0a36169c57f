import type { NextConfig } from "next";

const config: NextConfig = {
  distDir: process.env.NEXT_DIST_DIR ?? ".next",
  poweredByHeader: false,
  // The servers' clients stay what npm installed: bundled, their sockets and symbols would exist twice.
  serverExternalPackages: [
    "pg",
    "ioredis",
    "node-zookeeper-client",
    "memcache-client",
    "hdr-histogram-js",
    "@prisma/client",
    "@prisma/adapter-pg",
    "pino",
    "prom-client",
  ],
  // No picture goes through Next's image server, so it need not be there.
  images: { unoptimized: true },
  // `npm run check` is where types are checked.
  typescript: { ignoreBuildErrors: true },
  // Between two pages a browser may find neither's icon link in the document, and asks for what browsers always asked for.
  rewrites: async () => [{ source: "/favicon.ico", destination: "/icon.svg" }],
};

export default config;
