import type { Server } from "node:http";
import next from "next";
import { FrontDoor } from "./lib/http/front-door";
import { createHttpServer } from "./lib/http/http-server";
import { drain } from "./lib/http/shutdown";
import { currentNode, servesSales } from "./lib/node/current-node";
import { closeLockClients } from "./lib/node/lock-dependencies";
import { coordinator } from "./lib/runs/lab";
import { env } from "./lib/services/current-env";
import { log } from "./lib/services/log";
import { postgresPool } from "./lib/services/postgres";
import { ShopMaintenance } from "./lib/shop/maintenance";
import { traitsOf } from "./lib/stock/stock-strategies";

/**
 * One store node (or the dashboard, which is the same process with another name): hot and control routes first,
 * then Next. See docs/architecture.md.
 */

/** `lab down` kills after eight seconds; a purchase waits ten at most, by default, and a node is rarely that busy. */
const DRAIN_LIMIT_MS = 6_500;
const SHUTDOWN_LIMIT_MS = 12_000;
/** The process that coordinates runs. */
const COORDINATING_NODE = "dashboard";

async function main(): Promise<void> {
  const { HOST, PORT, STORE_NODE, LOCK_STRATEGY, LAB_ADMIN_TOKEN } = env();
  const isDevelopment = process.env.NODE_ENV === "development";
  traitsOf(LOCK_STRATEGY);
  currentNode();
  const app = next({ dev: isDevelopment, hostname: HOST, port: PORT });
  const handle = app.getRequestHandler();
  await app.prepare();
  const door = new FrontDoor({ next: handle, isDevelopment });
  const server = createHttpServer((request, response) => door.handle(request, response));
  // Next is only needed for its own sockets in development; any other upgrade would hang for ever.
  if (!isDevelopment) server.on("upgrade", (_request, socket) => socket.destroy());
  server.listen({ port: PORT, host: HOST, backlog: 4_096 }, () => {
    log().info({ url: `http://${HOST}:${PORT}`, strategy: LOCK_STRATEGY }, `${STORE_NODE} is ready`);
    if (LAB_ADMIN_TOKEN === undefined && !/^(127\.|::1$|localhost$)/.test(HOST)) {
      log().warn("Whoever reaches this port may change the lab; LAB_ADMIN_TOKEN asks for a token first.");
    }
  });
  if (STORE_NODE === COORDINATING_NODE) {
    coordinator()
      .failOrphanedRuns()
      .catch((error: Error) =>
        log().error(`what the last dashboard left running could not be given up: ${error.message}`),
      );
  }
  const upkeep = new ShopMaintenance(currentNode(), servesSales() ? env().SHOP_MAINTENANCE_EVERY_MS : 0);
  upkeep.start();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void shutDown(signal, { server, door, upkeep }));
  }
}

interface Running {
  readonly server: Server;
  readonly door: FrontDoor;
  readonly upkeep: ShopMaintenance;
}

/** Takes no new requests, lets running purchases end, then closes what was opened. */
async function shutDown(signal: NodeJS.Signals, { server, door, upkeep }: Running): Promise<void> {
  const startedMs = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedMs);
  const limit = setTimeout(() => {
    log().fatal({ elapsedMs: elapsedMs() }, "the shutdown did not end; giving up");
    process.exit(1);
  }, SHUTDOWN_LIMIT_MS);
  limit.unref();
  log().info({ signal, inFlight: door.inFlight }, "shutting down");
  const cutOff = await drain(server, door, { limitMs: DRAIN_LIMIT_MS });
  await upkeep.stop();
  await coordinator().stop();
  await currentNode()[Symbol.asyncDispose]();
  await closeLockClients();
  await postgresPool().end();
  log().info({ elapsedMs: elapsedMs(), cutOff }, "shut down");
  process.exit(cutOff === 0 ? 0 : 1);
}

main().catch((error: Error) => {
  log().fatal(error.message);
  process.exit(1);
});
