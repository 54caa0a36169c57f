import { connect } from "node:net";
import { serverKinds } from "../../servers/all-servers";
import { type Endpoint, endpointsOf, type ServerKind } from "../../servers/server-kind";
import { missingService, serverAddress } from "./missing-service";
import { processSingleton } from "./singleton";

/** Whether a server can be reached now, for people to see; strategies find out for themselves. */
export interface ServiceState {
  readonly id: string;
  /** As people call it; with how many answer, where there are several. */
  readonly label: string;
  readonly present: boolean;
  /** Why not, and what would make it present; null when it is. */
  readonly reason: string | null;
}

const CONNECT_LIMIT_MS = 500;
/** Pages ask often; servers need not be asked as often. */
const REMEMBERED_MS = 2_000;

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
  return Promise.all(serverKinds.map(stateOf));
}

async function stateOf(kind: ServerKind): Promise<ServiceState> {
  const { id, label, quorum } = kind;
  const missing = missingService(id);
  if (missing !== null) return { id, label, present: false, reason: missing };
  const endpoints = endpointsOf(kind, serverAddress(id) ?? "");
  const reachable = await Promise.all(endpoints.map(isReachable));
  const up = reachable.filter(Boolean).length;
  const needed = quorum === "majority" ? Math.floor(endpoints.length / 2) + 1 : 1;
  const counted = endpoints.length > 1 ? `${label} ${up}/${endpoints.length}` : label;
  if (up >= needed) return { id, label: counted, present: true, reason: null };
  const silent = endpoints.filter((_, index) => !reachable[index]).map(({ host, port }) => `${host}:${port}`);
  const reason = `${label} does not answer at ${silent.join(", ")}. To find out why, run "npm run lab -- doctor".`;
  return { id, label: counted, present: false, reason };
}

function isReachable({ host, port }: Endpoint): Promise<boolean> {
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
