import { createServer, type Server } from "node:net";

/** Below the range the system hands out to outgoing connections, and beside the ports of the labs. */
const FIRST_PORT = 20_000;
const PORTS = 1_900;
/** From a port to its twin, which nobody but this file listens on. */
const TO_TWIN = 1_950;
const ATTEMPTS = 500;

/**
 * A port that nothing listens on, and that no other process is given as long as this one lives: a server that starts slowly
 * or starts again finds it free. Listening on the port's twin is the claim, so it ends with the process, however that ends.
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
  throw new Error(`found no free port from ${FIRST_PORT} on`);
}

/** @returns null when the port is taken */
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
