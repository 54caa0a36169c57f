import type { Server } from "node:http";
import next from "next";
import { runViews } from "./app/_lib/run-views";
import { FrontDoor } from "./lib/http/front-door";
import { createHttpServer } from "./lib/http/http-server";
import { drain } from "./lib/http/shutdown";
import { currentNode, servesSales } from "./lib/node/current-node";
import { closeLockClients } from "./lib/node/lock-dependencies";
import { RunKeeper } from "./lib/node/run-keeper";
import { AbandonedRuns } from "./lib/runs/abandoned-run";
import { coordinator } from "./lib/runs/lab";
import { sweepRunner } from "./lib/runs/sweeps";
import { env } from "./lib/services/current-env";
import { log } from "./lib/services/log";
import { postgresPool } from "./lib/services/postgres";
import { ShopMaintenance } from "./lib/shop/maintenance";
import { traitsOf } from "./lib/stock/stock-strategies";

/**
 * One store node, or the dashboard, which is the same program with another name. The route table serves the API and Next serves
 * the pages. See docs/architecture.md.
 */

/** Below the eight seconds after which `lab down` kills the process. */
const DRAIN_LIMIT_MS = 6_500;
const SHUTDOWN_LIMIT_MS = 12_000;

async function main(): Promise<void> {
  const { HOST, PORT, STORE_NODE, LOCK_STRATEGY, LAB_ADMIN_TOKEN } = env();
  const isDevelopment = process.env.NODE_ENV === "development";
  traitsOf(LOCK_STRATEGY);
  currentNode();
  const app = next({ dev: isDevelopment, hostname: HOST, port: PORT });
  const handle = app.getRequestHandler();
  const keeper = new RunKeeper(currentNode());
  if (servesSales()) await keeper.start();
  await app.prepare();
  const door = new FrontDoor({ next: handle, views: runViews, isDevelopment });
  const server = createHttpServer((request, response) => door.handle(request, response));
  // Only Next's hot reload upgrades connections. In production an upgrade would stay open for ever.
  if (!isDevelopment) server.on("upgrade", (_request, socket) => socket.destroy());
  server.listen({ port: PORT, host: HOST, backlog: 4_096 }, () => {
    log().info({ url: `http://${HOST}:${PORT}`, strategy: LOCK_STRATEGY }, `${STORE_NODE} is ready`);
    if (LAB_ADMIN_TOKEN === undefined && !/^(127\.|::1$|localhost$)/.test(HOST)) {
      log().warn("Every client that reaches this port can change the lab. To require a token, set LAB_ADMIN_TOKEN.");
    }
  });
  coordinator()
    .failOrphanedRun()
    .catch((error: Error) => log().error(`The run of the previous process could not be failed: ${error.message}`));
  const abandoned = new AbandonedRuns(() => coordinator().endAbandonedRun());
  if (!servesSales()) abandoned.start();
  const maintenance = new ShopMaintenance(currentNode(), servesSales() ? env().SHOP_MAINTENANCE_EVERY_MS : 0);
  maintenance.start();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void shutDown(signal, { server, door, maintenance, keeper, abandoned }));
  }
}

interface Running {
  readonly server: Server;
  readonly door: FrontDoor;
  readonly maintenance: ShopMaintenance;
  readonly keeper: RunKeeper;
  readonly abandoned: AbandonedRuns;
}

/** Shuts down gracefully: rejects new requests, completes running ones, then closes clients and pools. */
async function shutDown(signal: NodeJS.Signals, running: Running): Promise<void> {
  const { server, door, maintenance, keeper, abandoned } = running;
  const startedMs = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedMs);
  const limit = setTimeout(() => {
    log().fatal({ elapsedMs: elapsedMs() }, "the shutdown exceeded its limit; exiting");
    process.exit(1);
  }, SHUTDOWN_LIMIT_MS);
  limit.unref();
  log().info({ signal, inFlight: door.inFlight }, "shutting down");
  const cutOff = await drain(server, door, { limitMs: DRAIN_LIMIT_MS });
  abandoned.stop();
  await maintenance.stop();
  await keeper.stop();
  sweepRunner().shutDown();
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
