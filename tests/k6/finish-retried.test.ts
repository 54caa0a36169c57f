import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { labUrl, runK6 } from "./k6";

/** The lab, but it answers 503 to every other attempt to finish a run, as during an outage of PostgreSQL. */
function refuseFinish() {
  let attempts = 0;
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = incoming;
    const outgoing = request(new URL(url ?? "/", labUrl()), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.once("error", () => response.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    const isFinish = incoming.url?.endsWith("/finish") === true;
    if (isFinish) attempts += 1;
    if (!isFinish || attempts % 2 === 0) {
      forward(incoming, response);
      return;
    }
    incoming.resume();
    const error = { code: "backend_unavailable", message: "PostgreSQL does not respond. Retry." };
    response.writeHead(503, { "retry-after": "1" }).end(JSON.stringify({ error }));
  });
  return { server, attempts: () => attempts };
}

describe("k6 and a lab that cannot finish the run yet", () => {
  it("repeats the finish, with and without the report, until the lab accepts it", async () => {
    const { server, attempts } = refuseFinish();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = { BASE_URL, LOCK_STRATEGY: "sql-guarded", STOCK: "5", BUYERS: "10" };
    const result = await runK6(settings).finally(() => {
      server.closeAllConnections();
      server.close();
    });
    assert.equal(result.exitCode, 0, result.stderr);
    assert.equal(attempts(), 4);
  });
});
