import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { TopologyLink } from "./topology-link";

const LONG_MS = 60_000;
const SHORT_MS = 50;

describe("a link of a topology", () => {
  /** A link to a server that sends back what it gets. */
  async function linked(t: TestContext) {
    const received: string[] = [];
    const server = createServer((socket) => {
      socket.on("error", () => {});
      socket.on("data", (data) => received.push(data.toString()));
      socket.pipe(socket);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const upstream = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const link = new TopologyLink({ name: "link", listen: "127.0.0.1:0", upstream });
    await link.restore();
    t.after(async () => {
      await link.cut();
      server.close();
    });
    const dial = async (): Promise<Socket> => {
      const socket = connect(link.port, "127.0.0.1");
      socket.on("error", () => {});
      await once(socket, "connect");
      return socket;
    };
    return { link, received, dial };
  }

  async function answerTo(socket: Socket, text: string): Promise<string> {
    socket.write(text);
    return String((await once(socket, "data"))[0]);
  }

  /** Closed or reset. */
  const untilClosed = (socket: Socket) => new Promise((resolve) => socket.once("close", resolve).resume());

  it("passes nothing while it is silent, then closes the connections that lost data and serves new ones", async (t) => {
    const { link, received, dial } = await linked(t);
    const before = await dial();
    assert.equal(await answerTo(before, "one"), "one");
    await link.silence(LONG_MS);
    const during = await dial();
    const closed = [before, during].map((socket) => {
      socket.write("lost");
      return untilClosed(socket);
    });
    await link.restore();
    await Promise.all(closed);
    assert.equal(await answerTo(await dial(), "two"), "two");
    assert.deepEqual(received, ["one", "two"]);
  });

  it("ends its silence at the deadline, but no later cut", async (t) => {
    const { link, dial } = await linked(t);
    const socket = await dial();
    assert.equal(await answerTo(socket, "one"), "one");
    await link.silence(SHORT_MS);
    await untilClosed(socket);
    assert.equal(await answerTo(await dial(), "two"), "two");

    await link.silence(SHORT_MS);
    await link.cut();
    await new Promise((resolve) => setTimeout(resolve, 2 * SHORT_MS));
    await assert.rejects(dial(), { code: "ECONNREFUSED" });
  });
});
