import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { waitUntil } from "../../../tests/support/wait-until";
import { clientReport } from "../testing/run-fixture";
import type { Connection } from "./connection-owner";
import { withGeneratorCpu } from "./cpu-watch";
import { watchOpener } from "./opener-watch";

const report = clientReport();

const isLinux = process.platform === "linux";

describe("the watch of who opened a run", { skip: isLinux ? false : "not applicable: there is no /proc" }, () => {
  const [dashboard, node] = [createServer(), createServer()];
  const children: ChildProcess[] = [];
  const over = new AbortController();
  const portOf = (server: Server) => (server.address() as AddressInfo).port;
  before(async () => {
    for (const server of [dashboard, node]) {
      server.on("connection", (socket) => socket.on("error", () => socket.destroy()));
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
  });
  after(() => {
    over.abort();
    for (const child of children) child.kill("SIGKILL");
    dashboard.close();
    node.close();
  });

  /** A process that has connected to the dashboard, and to whatever else it is told to. */
  async function openerOf(ports: readonly number[]): Promise<{ child: ChildProcess; connection: Connection }> {
    const script = `for (const port of ${JSON.stringify(ports)}) require("net").connect(port, "127.0.0.1")`;
    const connected = once(dashboard, "connection") as Promise<[Socket]>;
    const child = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
    children.push(child);
    const [{ localAddress = "", localPort = 0, remoteAddress = "", remotePort = 0 }] = await connected;
    return { child, connection: { localAddress, localPort, remoteAddress, remotePort } };
  }

  const watch = (runId: string, connection: Connection | null) =>
    watchOpener({ runId, connection, nodeUrls: [`http://127.0.0.1:${portOf(node)}`], until: over.signal });
  const seen = (runId: string) => withGeneratorCpu(runId, report);
  const saysUnknown = (runId: string, words: RegExp) =>
    waitUntil(() => words.test(seen(runId).generatorCpuUnknown ?? ""), { what: `${runId} to say ${words}` });

  it("tells what it uses, once it is connected to a store node too", async () => {
    const { connection } = await openerOf([portOf(dashboard), portOf(node)]);
    watch("sends", connection);
    await waitUntil(() => seen("sends").generatorCpuPercent !== undefined, { what: "the generator's processor" });
    assert.equal(seen("sends").generatorProcess, "node");
  });

  it("does not take a process for the generator that leaves the purchases to another", async () => {
    const { child, connection } = await openerOf([portOf(dashboard)]);
    watch("opens only", connection);
    await saysUnknown("opens only", /sent no purchases/);
    child.kill("SIGKILL");
    await once(child, "exit");
    assert.equal(seen("opens only").generatorCpuPercent, undefined);
  });

  it("knows of nobody behind a proxy, or of who is elsewhere", async () => {
    watch("proxied", null);
    await saysUnknown("proxied", /through a proxy/);
    watch("elsewhere", { localAddress: "127.0.0.1", localPort: 1, remoteAddress: "192.0.2.7", remotePort: 2 });
    await saysUnknown("elsewhere", /not found on the lab's machine/);
  });
});
