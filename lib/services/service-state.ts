import { connect } from "node:net";
import { serverKinds } from "../../servers/all-servers";
import { type Endpoint, endpointsOf, type ServerKind } from "../../servers/server-kind";
import { type FailedProcess, failedProcesses } from "./failed-processes";
import { missingService, serverAddress } from "./missing-service";
import { processSingleton } from "./singleton";

/** Whether a server can be reached now, for people to see; strategies find out for themselves. */
export interface ServiceState {
  readonly id: string;
  /** As people call it; with how many answer, where there are several. */
  readonly label: string;
  readonly present: boolean;
  /** True if it has not answered yet, and this process has started too recently to call it down. */
  readonly checking: boolean;
  /** Why not, and what would make it present; null when it is. */
  readonly reason: string | null;
}

export interface ServiceWatchOptions {
  readonly kinds: readonly ServerKind[];
  readonly answers: (endpoint: Endpoint, greeting: string) => Promise<boolean>;
  readonly nowMs: () => number;
  readonly failures: () => readonly FailedProcess[];
}

/** A busy server answers late; a process that hangs not at all. */
const ANSWER_LIMIT_MS = 1_500;
/** Pages ask often; servers need not be asked as often. */
const REMEMBERED_MS = 2_000;
/** A busy machine answers the first connections late, so a server without an answer is not called down before this. */
const CHECKING_MS = 10_000;

/** Asks all servers for a first answer, and remembers the results of the last two seconds. */
export class ServiceWatch {
  readonly #options: ServiceWatchOptions;
  readonly #haveAnswered = new Set<string>();
  #firstAskedMs: number | null = null;
  #askedMs = Number.NEGATIVE_INFINITY;
  #answers: Promise<readonly ServiceState[]> = Promise.resolve([]);

  constructor(options: ServiceWatchOptions) {
    this.#options = options;
  }

  states(): Promise<readonly ServiceState[]> {
    const { kinds, nowMs } = this.#options;
    const now = nowMs();
    this.#firstAskedMs ??= now;
    if (now - this.#askedMs > REMEMBERED_MS) {
      this.#askedMs = now;
      this.#answers = this.#ask(kinds);
    }
    return this.#answers;
  }

  async #ask(kinds: readonly ServerKind[]): Promise<readonly ServiceState[]> {
    const failures = this.#options.failures();
    const ofKind = ({ id }: ServerKind) => failures.filter(({ name }) => name === id || name.startsWith(`${id}-`));
    const states = await Promise.all(kinds.map((kind) => this.#stateOf(kind)));
    const explained = states.map((state, index) => {
      const [failure] = ofKind(kinds[index] as ServerKind);
      return state.present || !failure ? state : { ...state, checking: false, reason: failure.reason };
    });
    const nodes = failures.filter((failure) => !kinds.some((kind) => ofKind(kind).includes(failure)));
    return [...explained, ...nodes.map(nodeState)];
  }

  async #stateOf(kind: ServerKind): Promise<ServiceState> {
    const { id, label, quorum, greeting } = kind;
    const missing = missingService(id);
    if (missing !== null) return { id, label, present: false, checking: false, reason: missing };
    const endpoints = endpointsOf(kind, serverAddress(id) ?? "");
    const answers = await Promise.all(endpoints.map((endpoint) => this.#options.answers(endpoint, greeting)));
    const up = answers.filter(Boolean).length;
    const needed = quorum === "majority" ? Math.floor(endpoints.length / 2) + 1 : 1;
    const counted = endpoints.length > 1 ? `${label} ${up}/${endpoints.length}` : label;
    if (up >= needed) {
      this.#haveAnswered.add(id);
      return { id, label: counted, present: true, checking: false, reason: null };
    }
    if (this.#isChecking(id)) {
      const reason = `${label} has not answered yet. The lab is still checking it.`;
      return { id, label, present: false, checking: true, reason };
    }
    const silent = endpoints.filter((_, index) => !answers[index]).map(({ host, port }) => `${host}:${port}`);
    const reason = `${label} does not answer at ${silent.join(", ")}. To find out why, run "npm run lab -- doctor".`;
    return { id, label: counted, present: false, checking: false, reason };
  }

  #isChecking(id: string): boolean {
    const sinceFirstMs = this.#options.nowMs() - (this.#firstAskedMs ?? 0);
    return !this.#haveAnswered.has(id) && sinceFirstMs < CHECKING_MS;
  }
}

/** A store node, or the dashboard: named among the servers only while it does not run. */
function nodeState({ name, reason }: FailedProcess): ServiceState {
  return { id: name, label: name, present: false, checking: false, reason };
}

/** All servers, and store nodes that failed. Takes at most two seconds. */
export function serviceStates(): Promise<readonly ServiceState[]> {
  const options = {
    kinds: serverKinds,
    answers: (endpoint: Endpoint, greeting: string) => answers(endpoint, greeting),
    nowMs: () => performance.now(),
    failures: failedProcesses,
  };
  return processSingleton("service-watch", () => new ServiceWatch(options)).states();
}

/** Whether a server answers `greeting` with at least one byte, a refusal included. */
export function answers({ host, port }: Endpoint, greeting: string, limitMs = ANSWER_LIMIT_MS): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limitMs });
    const end = (hasAnswered: boolean) => {
      socket.destroy();
      resolve(hasAnswered);
    };
    socket.once("connect", () => socket.write(greeting, "latin1"));
    socket.once("data", () => end(true));
    socket.once("end", () => end(false));
    // After a stall of this process its timers run before its sockets are read, so look at the socket once more.
    socket.on("timeout", () => {
      const { connecting } = socket;
      setImmediate(() => socket.connecting === connecting && end(false));
    });
    socket.once("error", () => end(false));
  });
}
