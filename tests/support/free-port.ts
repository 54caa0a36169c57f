import { createServer, type Server } from "node:net";

/** Below the range of outgoing connections, and outside the port ranges of the labs. */
const FIRST_PORT = 20_000;
const PORTS = 1_900;
/** Offset from a port to its twin port, which only this file uses. */
const TO_TWIN = 1_950;
const ATTEMPTS = 500;

/**
 * Finds a free port that no other test process uses while this one lives, so a server that starts slowly or restarts
 * finds it free. Listening on the twin port is the claim, so it ends with the process.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const claim = await listenOn(port + TO_TWIN);
    if (!claim) continue;
    claim.unref();
    const probe = await listenOn(port);
    await close(probe ?? claim);
    if (probe) return port;
  }
  throw new Error(`found no free port in ${FIRST_PORT} to ${FIRST_PORT + PORTS}; stop other servers in this range`);
}

/** @returns null if the port is in use */
function listenOn(port: number): Promise<Server | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(null));
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}
