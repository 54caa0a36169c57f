import { connect } from "node:net";
import { env } from "./current-env";
import { missingService, SERVICES, type ServiceName } from "./missing-service";
import { processSingleton } from "./singleton";

/** Whether a server can be reached now, for people to see; strategies find out for themselves. */
export interface ServiceState {
  readonly id: ServiceName;
  /** As people call it; with how many answer, where there are several. */
  readonly label: string;
  readonly present: boolean;
  /** Why not, and what would make it present; null when it is. */
  readonly reason: string | null;
}

const CONNECT_LIMIT_MS = 500;
/** Pages ask often; servers need not be asked as often. */
const REMEMBERED_MS = 2_000;

const DEFAULT_PORTS: Record<ServiceName, number> = {
  postgres: 5432,
  redis: 6379,
  redlock: 6379,
  zookeeper: 2181,
  memcached: 11_211,
  etcd: 2379,
};

/** All servers, by a TCP connection each. Takes at most half a second; answers of the last two seconds are reused. */
export function serviceStates(): Promise<readonly ServiceState[]> {
  const memory = processSingleton("service-states", () => ({ atMs: Number.NEGATIVE_INFINITY, states: askAll }));
  if (performance.now() - memory.atMs > REMEMBERED_MS) {
    const asked = askAll();
    memory.atMs = performance.now();
    memory.states = () => asked;
  }
  return memory.states();
}

function askAll(): Promise<readonly ServiceState[]> {
  return Promise.all((Object.keys(SERVICES) as ServiceName[]).map(askService));
}

async function askService(id: ServiceName): Promise<ServiceState> {
  const { label, variable } = SERVICES[id];
  const missing = missingService(id);
  if (missing !== null) return { id, label, present: false, reason: missing };
  const addresses = [env()[variable] ?? []].flat().flatMap((text) => addressesOf(id, text));
  const answers = await Promise.all(addresses.map(isReachable));
  const up = answers.filter(Boolean).length;
  const needed = id === "redlock" ? Math.floor(addresses.length / 2) + 1 : 1;
  const counted = addresses.length > 1 ? `${label} ${up}/${addresses.length}` : label;
  if (up >= needed) return { id, label: counted, present: true, reason: null };
  const silent = addresses.filter((_, index) => !answers[index]).map(({ host, port }) => `${host}:${port}`);
  const reason = `${label} does not answer at ${silent.join(", ")}; "npm run lab -- doctor" says why.`;
  return { id, label: counted, present: false, reason };
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Host and port of `scheme://user@host:port/path`, or of a list of `host:port` with commas between. */
export function addressesOf(id: ServiceName, text: string): Address[] {
  if (!text.includes("://") && text.includes(",")) return text.split(",").flatMap((part) => addressesOf(id, part));
  const trimmed = text.trim();
  const url = trimmed.includes("://") ? trimmed : `tcp://${trimmed}`;
  if (!URL.canParse(url)) return [];
  const { hostname, port } = new URL(url);
  return [{ host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? DEFAULT_PORTS[id] : Number(port) }];
}

function isReachable({ host, port }: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: CONNECT_LIMIT_MS });
    const end = (isUp: boolean) => {
      socket.destroy();
      resolve(isUp);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}
