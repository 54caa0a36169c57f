import { connect, createServer } from "node:net";
import { topologiesById } from "../../lib/faults/topologies/all-topologies";
import { serverKinds } from "../../servers/all-servers";
import type { ServerPort } from "../../servers/server-kind";

const NODE_PORTS: Readonly<Record<string, ServerPort>> = {
  dashboard: { port: 3000, offset: 0 },
  "node-1": { port: 3001, offset: 1 },
  "node-2": { port: 3002, offset: 2 },
  "node-3": { port: 3003, offset: 3 },
};

/**
 * Every port, by name. The defaults are below 32768: the kernel hands higher ports to outgoing connections, which makes a server's port
 * busy at random. With `--port-base`, the offsets place a whole lab into a block of 100.
 */
const START_PORTS: Readonly<Record<string, ServerPort>> = Object.assign(
  {},
  NODE_PORTS,
  ...serverKinds.map(({ ports }) => ports),
);

/** Ports of processes that the lab starts on demand. */
const TOPOLOGY_PORTS: Readonly<Record<string, ServerPort>> = Object.assign(
  {},
  ...Object.values(topologiesById).map(({ ports }) => ports),
);

const PORTS: Readonly<Record<string, ServerPort>> = { ...START_PORTS, ...TOPOLOGY_PORTS };

/** The ports that a start of the lab plans. */
export const PORT_NAMES = Object.keys(START_PORTS);
export const TOPOLOGY_PORT_NAMES = Object.keys(TOPOLOGY_PORTS);

const LAST_PORT = 32_767;
const MAX_STEPS = 200;
const PROBE_TIMEOUT_MS = 500;

export interface PlannedPort {
  readonly port: number;
  /** The requested port, if it was busy. */
  readonly busy: number | null;
}

export type PortPlan = Readonly<Record<string, PlannedPort>>;

/** The default of a port name. @throws Error for an unknown name */
export function defaultPort(name: string): number {
  return portOf(name).port;
}

function portOf(name: string): ServerPort {
  const known = PORTS[name];
  if (known) return known;
  throw new Error(`"${name}" is not a port name; valid names: ${PORT_NAMES.join(", ")}`);
}

/** The requested port: from `LAB_PORT_NODE_1` and the like, else from the base, else the default. */
export function wantedPort(
  name: string,
  options: { readonly base?: number; readonly env: Readonly<Record<string, string | undefined>> },
): number {
  const variable = `LAB_PORT_${name.replaceAll("-", "_").toUpperCase()}`;
  const given = options.env[variable];
  if (given === undefined || given === "") {
    const { port, offset } = portOf(name);
    return options.base === undefined ? port : options.base + offset;
  }
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error(`${variable}=${given} is not a port. Use a number from 1 to 65535.`);
  return port;
}

/**
 * Chooses a port for each name: the requested one, or the next free one that no other name requested.
 * @throws Error if 200 consecutive ports are busy
 */
export async function planPorts(
  names: readonly string[],
  options: {
    readonly base?: number;
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly isFree?: (port: number) => Promise<boolean>;
  },
): Promise<PortPlan> {
  const isFree = options.isFree ?? isPortFree;
  const wanted = new Map(names.map((name) => [name, wantedPort(name, options)]));
  const reserved = new Set(wanted.values());
  const taken = new Set<number>();
  const plan: Record<string, PlannedPort> = {};
  for (const [name, first] of wanted) {
    let port = first;
    for (let step = 0; taken.has(port) || (port !== first && reserved.has(port)) || !(await isFree(port)); step += 1) {
      port = port >= LAST_PORT ? 1_024 : port + 1;
      if (step >= MAX_STEPS) throw new Error(`no free port for ${name} in ${MAX_STEPS} from ${first} on`);
    }
    taken.add(port);
    plan[name] = { port, busy: port === first ? null : first };
  }
  return plan;
}

/** True if no process listens on the port and it can be bound on the loopback interface. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await canListen(port)) && !(await answers(port));
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** True if the port accepts a connection. */
export function answers(port: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host, timeout: PROBE_TIMEOUT_MS });
    const end = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}

/** "127.0.0.1:16380 (16379 is busy)". */
export function describePort(planned: PlannedPort): string {
  return `127.0.0.1:${planned.port}${planned.busy === null ? "" : ` (${planned.busy} is busy)`}`;
}
