import type { Server } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { log } from "../services/log";
import type { FrontDoor } from "./front-door";
import { beginShutdown } from "./readiness";
import { endAllStreams } from "./sse";

export interface DrainOptions {
  /** Requests that are still running after this long lose their connections. */
  readonly limitMs: number;
}

/** Clients that send on are told to go elsewhere: until they are quiet for so long, but at least once as long as this. */
const QUIET_MS = 500;
/** ... and at most this long: some never learn. */
const FAREWELL_LIMIT_MS = 2_500;
const POLL_MS = 20;

/**
 * Ends the serving: running requests get their answers, new ones a 503 that closes their connection. The port stays open
 * until nothing runs any more: a connection that the kernel has accepted for a closed port dies without a word.
 * @returns how many requests were cut off
 */
export async function drain(server: Server, door: FrontDoor, { limitMs }: DrainOptions): Promise<number> {
  const startedMs = performance.now();
  beginShutdown();
  door.close();
  endAllStreams();
  const elapsedMs = () => performance.now() - startedMs;
  const isOver = () => Math.min(door.quietForMs, elapsedMs()) >= QUIET_MS || elapsedMs() >= FAREWELL_LIMIT_MS;
  while ((door.inFlight > 0 || !isOver()) && elapsedMs() < limitMs) await delay(POLL_MS);
  const cutOff = door.inFlight;
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  // What is left is connections that never sent a whole request, and the requests that ran out of time.
  if (cutOff > 0) log().error({ cutOff }, "requests were cut off");
  server.closeAllConnections();
  await closed;
  return cutOff;
}
