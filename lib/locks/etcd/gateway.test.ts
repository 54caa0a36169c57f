import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { openEtcdGateway } from "./etcd-client";
import { isEtcdError } from "./etcd-port";

/** A member that answers every request alike. */
async function startMember(status: number, body: object): Promise<{ url: string; server: Server }> {
  const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("the gateway to an etcd cluster", () => {
  const ask = async (urls: readonly string[], turns: number) => {
    const gateway = openEtcdGateway(urls.join(","));
    const answers: unknown[] = [];
    for (let turn = 0; turn < turns; turn += 1) {
      answers.push(
        await gateway
          .post("/v3/kv/range", {})
          .catch((error) => (isEtcdError(error, "unreachable") ? "unreachable" : error)),
      );
    }
    gateway.close();
    return answers;
  };

  it("asks the next member after one that it cannot reach, and stays with it", async () => {
    const ended = await startMember(200, { from: "ended" });
    ended.server.close();
    const alive = await startMember(200, { from: "alive" });
    const answers = await ask([ended.url, alive.url], 3);
    alive.server.close();
    assert.deepEqual(answers, ["unreachable", { from: "alive" }, { from: "alive" }]);
  });

  it("asks the next member after one that cannot serve, and the first one after the last", async () => {
    const leaderless = await startMember(503, { code: 14, message: "etcdserver: no leader" });
    const alive = await startMember(200, { from: "alive" });
    const answers = await ask([leaderless.url, alive.url], 2);
    alive.server.close();
    alive.server.closeAllConnections();
    assert.deepEqual(answers, ["unreachable", { from: "alive" }]);
    assert.deepEqual(await ask([alive.url, leaderless.url], 3), ["unreachable", "unreachable", "unreachable"]);
    leaderless.server.close();
  });

  it("stays with a member that refuses a request", async () => {
    const refusing = await startMember(400, { code: 3, message: "etcdserver: key is not provided" });
    const alive = await startMember(200, { from: "alive" });
    const answers = await ask([refusing.url, alive.url], 2);
    refusing.server.close();
    alive.server.close();
    assert.ok(
      answers.every((answer) => isEtcdError(answer, "refused")),
      JSON.stringify(answers),
    );
  });
});
