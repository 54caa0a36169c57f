import { readdir, readFile, readlink } from "node:fs/promises";
import { isIPv6, SocketAddress } from "node:net";

/** Which process of this machine is at the other end of a connection: read from `/proc`, so on Linux only. */

/** A TCP connection as the process that answers on it sees it. */
export interface Connection {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** A process's end of a connection, as the system lists it. */
export interface TcpSocket extends Connection {
  /** Of the socket; "0" once its process has closed it. */
  readonly inode: string;
}

/** Looking through everything that every process has open takes milliseconds; a machine with far too much is given up. */
const SEARCH_LIMIT_MS = 2_000;

/** @returns the process at the other end; null when it is not on this machine, has gone, or is not ours to look into */
export async function ownerOf(connection: Connection): Promise<number | null> {
  const socket = (await tcpSockets()).find((candidate) => isOtherEnd(candidate, connection));
  if (socket === undefined || socket.inode === "0") return null;
  const giveUpAtMs = performance.now() + SEARCH_LIMIT_MS;
  const wanted = new Set([socket.inode]);
  // Who opens a run was mostly started after those who serve it.
  for (const pid of (await processIds()).reverse()) {
    if (performance.now() > giveUpAtMs) return null;
    if (await hasOpen(pid, wanted)) return pid;
  }
  return null;
}

/** Whether a process is connected to one of these ports, of whichever machine. */
export async function isConnectedTo(pid: number, ports: ReadonlySet<number>): Promise<boolean> {
  const inodes = (await tcpSockets()).filter(({ remotePort }) => ports.has(remotePort)).map(({ inode }) => inode);
  return hasOpen(pid, new Set(inodes));
}

function isOtherEnd(socket: TcpSocket, connection: Connection): boolean {
  return (
    socket.localPort === connection.remotePort &&
    socket.remotePort === connection.localPort &&
    socket.localAddress === plainAddress(connection.remoteAddress) &&
    socket.remoteAddress === plainAddress(connection.localAddress)
  );
}

/** Every TCP socket of this machine; none where the system does not list them. */
async function tcpSockets(): Promise<TcpSocket[]> {
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8").catch(() => ""));
  return (await Promise.all(tables)).flatMap(parseTcpTable);
}

/** @param text of `/proc/net/tcp` or `/proc/net/tcp6`; lines that are no sockets are passed over */
export function parseTcpTable(text: string): TcpSocket[] {
  return text.split("\n").flatMap((line) => {
    const [, local, remote, , , , , , , inode] = line.trim().split(/\s+/);
    const [here, there] = [endOf(local), endOf(remote)];
    if (here === null || there === null || inode === undefined || !/^\d+$/.test(inode)) return [];
    return [
      {
        localAddress: here.address,
        localPort: here.port,
        remoteAddress: there.address,
        remotePort: there.port,
        inode,
      },
    ];
  });
}

/** `0100007F:0BBA` -> 127.0.0.1 and 3002. */
function endOf(text: string | undefined): { address: string; port: number } | null {
  const [, address, port] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(text ?? "") ?? [];
  if (address === undefined || port === undefined) return null;
  return { address: addressOf(address), port: Number.parseInt(port, 16) };
}

/** The kernel prints an address as words of four bytes, each with its last byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => [...Buffer.from(word, "hex").reverse()]);
  if (bytes.length === 4) return bytes.join(".");
  const groups = Array.from({ length: 8 }, (_, at) =>
    Buffer.from(bytes)
      .readUInt16BE(at * 2)
      .toString(16),
  );
  return plainAddress(groups.join(":"));
}

/** One spelling an address: an IPv4 address that came over IPv6 is the IPv4 address. */
function plainAddress(address: string): string {
  const [unscoped = ""] = address.split("%");
  if (!isIPv6(unscoped)) return address;
  const spelt = new SocketAddress({ address: unscoped, family: "ipv6" }).address;
  return spelt.replace(/^::ffff:(?=\d+\.)/, "");
}

async function processIds(): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** False also for a process that is gone, or is another user's. */
async function hasOpen(pid: number, inodes: ReadonlySet<string>): Promise<boolean> {
  if (inodes.size === 0) return false;
  const folder = `/proc/${pid}/fd`;
  const files = await readdir(folder).catch(() => []);
  const targets = await Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => "")));
  return targets.some((target) => inodes.has(/^socket:\[(\d+)\]$/.exec(target)?.[1] ?? ""));
}
