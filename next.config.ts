import type { NextConfig } from "next";

const config: NextConfig = {
  distDir: process.env.NEXT_DIST_DIR ?? ".next",
  poweredByHeader: false,
  // Not bundled: a bundled copy of a client would have its own sockets and symbols beside the one in node_modules.
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
  // No page uses Next's image optimizer.
  images: { unoptimized: true },
  // `npm run check` checks types.
  typescript: { ignoreBuildErrors: true },
  // Browsers request /favicon.ico if they see no icon link, for example during a page transition.
  rewrites: async () => [{ source: "/favicon.ico", destination: "/icon.svg" }],
};

export default config;
