import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import next from "next";
import { currentNode } from "./lib/http/current-node";
import { answerAheadOfNext } from "./lib/http/node-adapter";
import { endAllStreams } from "./lib/http/sse";
import { coordinator } from "./lib/runs/lab";
import { env } from "./lib/services/current-env";
import { postgresPool } from "./lib/services/postgres";
import { closeLockClients } from "./lib/stock/lock-dependencies";
import { traitsOf } from "./lib/stock/registry";

/**
 * One store node (or the dashboard, which is the same process with another name): hot and control routes first,
 * then Next. See docs/architecture.md.
 */

const SHUTDOWN_LIMIT_MS = 12_000;

async function main(): Promise<void> {
  const { HOST, PORT, STORE_NODE, LOCK_STRATEGY } = env();
  traitsOf(LOCK_STRATEGY);
  currentNode();
  const app = next({ dev: process.env.NODE_ENV === "development", hostname: HOST, port: PORT });
  const handle = app.getRequestHandler();
  await app.prepare();
  const server = createServer((request, response) => {
    answer(request, response, handle).catch((error: Error) => giveUp(response, error));
  });
  // Next is only needed for its own sockets in development; any other upgrade would hang for ever.
  if (process.env.NODE_ENV !== "development") server.on("upgrade", (_request, socket) => socket.destroy());
  server.keepAliveTimeout = 65_000;
  server.listen({ port: PORT, host: HOST, backlog: 4_096 }, () => {
    console.log(`${STORE_NODE} ready on http://${HOST}:${PORT} with ${LOCK_STRATEGY}`);
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void shutDown(server));
  }
}

type NextHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function answer(request: IncomingMessage, response: ServerResponse, handle: NextHandler): Promise<void> {
  if (await answerAheadOfNext(request, response)) return;
  await handle(request, response);
}

/** A request that failed in a way no route foresaw; its client must not wait for ever. */
function giveUp(response: ServerResponse, error: Error): void {
  console.error("request failed:", error);
  if (response.headersSent) response.destroy();
  else
    response
      .writeHead(500, { "content-type": "application/json" })
      .end('{"error":{"code":"internal_error","message":"Something went wrong inside the lab."}}');
}

/** Takes no new requests, lets running purchases end, then closes what was opened. */
async function shutDown(server: ReturnType<typeof createServer>): Promise<void> {
  const limit = setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS);
  limit.unref();
  endAllStreams();
  server.closeIdleConnections();
  await new Promise((resolve) => server.close(resolve));
  await coordinator().stop();
  await currentNode()[Symbol.asyncDispose]();
  await closeLockClients();
  await postgresPool().end();
  process.exit(0);
}

main().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});
