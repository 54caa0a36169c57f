import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { after, before, describe, it } from "node:test";
import { waitUntil } from "../../../tests/support/wait-until";
import { type Connection, isConnectedTo, ownerOf, parseTcpTable } from "./connection-owner";

const HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode                     ";

describe("the system's list of TCP sockets", () => {
  it("is read line by line: addresses have their last byte first, ports their first", () => {
    const text = `${HEAD}
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 7626 1 00000000f89964cc 100 0 0 10 0
   1: 0100007F:C350 0200A8C0:0BB8 01 00000000:00000000 02:000005D1 00000000  1000        0 81923 2 00000000954bb1 20 4 30 10 -1
`;
    assert.deepEqual(parseTcpTable(text), [
      { localAddress: "127.0.0.1", localPort: 8_080, remoteAddress: "0.0.0.0", remotePort: 0, inode: "7626" },
      { localAddress: "127.0.0.1", localPort: 50_000, remoteAddress: "192.168.0.2", remotePort: 3_000, inode: "81923" },
    ]);
  });

  it("spells an IPv4 address that came over IPv6 as IPv4, and IPv6 as everybody does", () => {
    const text = `${HEAD}
   0: 0000000000000000FFFF00000100007F:C350 0000000000000000FFFF00000100007F:0BB8 01 00000000:00000000 00:00000000 00000000 0 0 17 1 0 20 4 30 10 -1
   1: B80D0120000000000000000001000000:0016 00000000000000000000000001000000:0BB8 06 00000000:00000000 03:00000FFF 00000000 0 0 0 3 0
`;
    assert.deepEqual(
      parseTcpTable(text).map(({ localAddress, remoteAddress, inode }) => [localAddress, remoteAddress, inode]),
      [
        ["127.0.0.1", "127.0.0.1", "17"],
        ["2001:db8::1", "::1", "0"],
      ],
    );
  });

  it("is empty for a text that is none", () => {
    assert.deepEqual(parseTcpTable(""), []);
    assert.deepEqual(parseTcpTable("1: 0100007F:XXXX 00000000:0000 0A 0 0 0 0 0 5 1\nnonsense\n2: 0:0 0:0"), []);
  });
});

const isLinux = process.platform === "linux";

describe("who is at the other end", { skip: isLinux ? false : "not applicable: there is no /proc" }, () => {
  const servers: Server[] = [];
  const children: ChildProcess[] = [];
  after(() => {
    for (const child of children) child.kill("SIGKILL");
    for (const server of servers) server.close();
  });

  /** A server on `host`, and a process that is connected to it through `via`. */
  async function connected(host: string, via: string) {
    const server = createServer();
    servers.push(server);
    server.listen(0, host);
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const child = spawn(process.execPath, ["-e", `require("net").connect(${port}, "${via}")`], { stdio: "ignore" });
    children.push(child);
    const [socket] = (await once(server, "connection")) as [Socket];
    socket.on("error", () => socket.destroy());
    const { localAddress = "", localPort = 0, remoteAddress = "", remotePort = 0 } = socket;
    const connection: Connection = { localAddress, localPort, remoteAddress, remotePort };
    return { child, connection, port };
  }

  for (const [host, via] of [
    ["127.0.0.1", "127.0.0.1"],
    ["::", "127.0.0.1"],
    ["::1", "::1"],
  ] as const) {
    it(`is the process that connected from ${via} to ${host}`, async () => {
      const { child, connection, port } = await connected(host, via);
      assert.equal(await ownerOf(connection), child.pid);
      assert.equal(await isConnectedTo(child.pid ?? 0, new Set([port])), true);
      assert.equal(await isConnectedTo(child.pid ?? 0, new Set([port + 1])), false);
      assert.equal(await isConnectedTo(process.ppid, new Set([port])), false);
    });
  }

  describe("of a connection that is gone", () => {
    let gone: Connection;
    before(async () => {
      const { child, connection } = await connected("127.0.0.1", "127.0.0.1");
      child.kill("SIGKILL");
      await once(child, "exit");
      gone = connection;
    });

    it("is nobody", async () => {
      await waitUntil(async () => (await ownerOf(gone)) === null, { what: "the connection's end" });
    });
  });

  it("is nobody for an end on another machine", async () => {
    const elsewhere = { localAddress: "127.0.0.1", localPort: 3_000, remoteAddress: "192.0.2.7", remotePort: 50_000 };
    assert.equal(await ownerOf(elsewhere), null);
  });
});
