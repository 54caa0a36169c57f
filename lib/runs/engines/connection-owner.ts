import { readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isIPv6, SocketAddress } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";

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
/** Looked at before others have their turn: a fraction of a millisecond. */
const FILES_A_TURN = 64;

/** @returns the process at the other end; null when it is not on this machine, has gone, or is not ours to look into */
export async function ownerOf(connection: Connection): Promise<number | null> {
  const socket = (await socketsOf([connection.remotePort])).find((candidate) => isOtherEnd(candidate, connection));
  if (socket === undefined || socket.inode === "0") return null;
  const giveUpAtMs = performance.now() + SEARCH_LIMIT_MS;
  const wanted = new Set([socket.inode]);
  // Who opens a run was mostly started after those who serve it.
  for (const pid of processIds().reverse()) {
    if (performance.now() > giveUpAtMs) return null;
    if (await hasOpen(pid, wanted)) return pid;
  }
  return null;
}

/** Whether a process is connected to one of these ports, of whichever machine. */
export async function isConnectedTo(pid: number, ports: ReadonlySet<number>): Promise<boolean> {
  const sockets = (await socketsOf([...ports])).filter(({ remotePort }) => ports.has(remotePort));
  return hasOpen(pid, new Set(sockets.map(({ inode }) => inode)));
}

function isOtherEnd(socket: TcpSocket, connection: Connection): boolean {
  return (
    socket.localPort === connection.remotePort &&
    socket.remotePort === connection.localPort &&
    socket.localAddress === plainAddress(connection.remoteAddress) &&
    socket.remoteAddress === plainAddress(connection.localAddress)
  );
}

/** This machine's TCP sockets with one of these ports at either end; none where the system does not list them. */
async function socketsOf(ports: readonly number[]): Promise<TcpSocket[]> {
  const marks = ports.map((port) => `:${port.toString(16).toUpperCase().padStart(4, "0")} `);
  const tables = ["/proc/net/tcp", "/proc/net/tcp6"].map((file) => readFile(file, "utf8").catch(() => ""));
  // A busy machine has thousands: only those lines are taken apart that may be meant.
  const lines = (await Promise.all(tables)).flatMap((text) => text.split("\n"));
  return parseTcpTable(lines.filter((line) => marks.some((mark) => line.includes(mark))).join("\n"));
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

function processIds(): number[] {
  return filesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
}

/** False also for a process that is gone, or is another user's. */
async function hasOpen(pid: number, inodes: ReadonlySet<string>): Promise<boolean> {
  if (inodes.size === 0) return false;
  const folder = `/proc/${pid}/fd`;
  for (const [at, file] of filesIn(folder).entries()) {
    // Read in one go, since a thread for each of thousands takes longer by far; but nobody waits for all of them.
    if (at % FILES_A_TURN === 0) await nextTurn();
    const [, inode] = /^socket:\[(\d+)\]$/.exec(targetOf(`${folder}/${file}`)) ?? [];
    if (inode !== undefined && inodes.has(inode)) return true;
  }
  return false;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function targetOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return ""; // Closed since the folder was read.
  }
}
