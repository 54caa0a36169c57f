import type { AddressInfo } from "node:net";
import { createHttpServer } from "../../lib/http/http-server";
import { apiListener } from "../../lib/http/node-adapter";

/** An HTTP server that serves the API without Next. */
export async function startHotServer(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createHttpServer(apiListener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
