import type { Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { log } from "../services/log";
import type { FrontDoor } from "./front-door";
import { beginShutdown } from "./readiness";
import { endAllStreams } from "./sse";

export interface DrainOptions {
  /** Connections of requests that still run after this long are closed. */
  readonly limitMs: number;
}

/** Waits until no request has arrived for this long, so that every client has seen a 503 and can go to another node. */
const QUIET_MS = 500;
/** Stops waiting for quiet after this long: some clients keep sending. */
const QUIET_LIMIT_MS = 2_500;
const POLL_MS = 20;

/**
 * Completes running requests and rejects new ones with a 503 that closes their connection. The port stays open until no
 * request runs, because the kernel would reset connections that wait on a closed port.
 * @returns how many requests were cut off
 */
export async function drain(server: Server, door: FrontDoor, { limitMs }: DrainOptions): Promise<number> {
  const startedMs = performance.now();
  beginShutdown();
  door.close();
  endAllStreams();
  const elapsedMs = () => performance.now() - startedMs;
  const isOver = () => Math.min(door.quietForMs, elapsedMs()) >= QUIET_MS || elapsedMs() >= QUIET_LIMIT_MS;
  while ((door.inFlight > 0 || !isOver()) && elapsedMs() < limitMs) await delay(POLL_MS);
  const cutOff = door.inFlight;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  // Closes connections that have sent no complete request, and requests that exceeded the limit.
  if (cutOff > 0) log().error({ cutOff }, "requests were cut off by the shutdown");
  server.closeAllConnections();
  await closed;
  return cutOff;
}
