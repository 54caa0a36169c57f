import { randomUUID } from "node:crypto";
import type { LockEntry } from "../../../lib/locks/create-lock";
import { isLockError } from "../../../lib/locks/errors";
import type { LockOutcome, LockRequest, LockStrategy, ServerId, StrategyTraits } from "../../../lib/locks/types";
import { isUnreachable } from "../../support/hold-lock";
import { type LockClients, type LockServers, openLockClients } from "../../support/lock-clients";
import { waitUntil } from "../../support/wait-until";
import { makeLock, nameOf, postgresOptions, type TestSetup } from "./test-setup";
import type { Worker } from "./worker";
import { openWorkers } from "./worker-pool";

/** The shortest lease that every server supports: Memcached and etcd count whole seconds. */
export const SHORT_TTL_MS = 1_000;

/** Long enough that a busy machine does not end the sessions of this process. */
const LONG_SESSION_MS = 10_000;

/** The strategy under test, with clients, workers and settings. */
export class StrategyUnderTest implements AsyncDisposable {
  readonly setup: TestSetup;
  /** For a lock, the traits of the created lock: an option may change them. */
  traits: StrategyTraits;
  readonly external: LockEntry | null;
  readonly clients: LockClients;
  readonly #once = new Map<string, Promise<unknown>>();
  #workers: Promise<readonly Worker[]> | null = null;

  constructor(setup: TestSetup, known: { readonly traits: StrategyTraits; readonly external: LockEntry | null }) {
    this.setup = setup;
    this.traits = known.traits;
    this.external = known.external;
    this.clients = openLockClients({}, { postgres: postgresOptions(setup), sessionTimeoutMs: LONG_SESSION_MS });
  }

  get name(): string {
    return nameOf(this.setup);
  }

  /** The server that the strategy depends on; null if it needs none. */
  get service(): ServerId | null {
    return this.traits.needs[0] ?? null;
  }

  /** Three processes, each with the strategy open. */
  workers(): Promise<readonly Worker[]> {
    this.#workers ??= openWorkers(this.setup);
    return this.#workers;
  }

  /** Runs work whose result several cases share only once. */
  once<T>(name: string, work: () => Promise<T>): Promise<T> {
    const known = this.#once.get(name) ?? work();
    this.#once.set(name, known);
    return known as Promise<T>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const [opened] = await Promise.allSettled([this.#workers ?? []]);
    const workers = opened.status === "fulfilled" ? opened.value.filter((worker) => !worker.isGone) : [];
    await Promise.all(workers.map((worker) => worker.close()));
    await this.clients[Symbol.asyncDispose]();
  }
}

/** A lock under test. */
export class LockUnderTest extends StrategyUnderTest {
  readonly lock: LockStrategy;

  constructor(...args: ConstructorParameters<typeof StrategyUnderTest>) {
    super(...args);
    this.lock = makeLock(this.setup, this.external, this.clients);
    this.traits = this.lock.traits;
  }

  fresh(overrides: Partial<LockRequest> = {}): LockRequest {
    return { resource: `test:${randomUUID()}`, waitTimeoutMs: 10_000, ttlMs: 5_000, ...overrides };
  }

  /**
   * Acquires the lock if it is free now. Asks again if a busy server does not answer within the second that a try may
   * last, because that says nothing about the lock.
   */
  async tryNow({ resource, ttlMs }: LockRequest): Promise<LockOutcome<string>> {
    let answer: LockOutcome<string> | null = null;
    const isAnswered = async () => {
      const call = this.lock.runGuarded({ resource, ttlMs, waitTimeoutMs: 0 }, async () => "entered");
      const [settled] = await Promise.allSettled([call]);
      if (settled.status === "fulfilled") answer = settled.value;
      else if (!isUnreachable(settled.reason)) throw settled.reason;
      return answer !== null;
    };
    await waitUntil(isAnswered, { what: `the server of ${this.lock.id} to answer a try` });
    return answer ?? Promise.reject(new Error("unreachable"));
  }

  /** The same lock with separate clients, which may use other servers. */
  async open(servers: Partial<LockServers>, sessionTimeoutMs = LONG_SESSION_MS): Promise<OpenedLock> {
    const opened = this.openLazily(servers, sessionTimeoutMs);
    try {
      await untilGranted(opened.lock, this.fresh());
    } catch (error) {
      await opened[Symbol.asyncDispose]();
      throw error;
    }
    return opened;
  }

  /** As `open`, but the clients connect at the first call. */
  openLazily(servers: Partial<LockServers>, sessionTimeoutMs = LONG_SESSION_MS): OpenedLock {
    const clients = openLockClients(servers, { postgres: postgresOptions(this.setup), sessionTimeoutMs });
    const lock = makeLock(this.setup, this.external, clients);
    const dispose = async () => {
      await lock[Symbol.asyncDispose]();
      await clients[Symbol.asyncDispose]();
    };
    return { clients, lock, [Symbol.asyncDispose]: dispose };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.lock[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

export interface OpenedLock extends AsyncDisposable {
  readonly clients: LockClients;
  readonly lock: LockStrategy;
}

/** Calls until the server answers: it may have started just now on a busy machine. */
export async function untilGranted(lock: LockStrategy, request: LockRequest): Promise<void> {
  const isAnswering = async () => {
    const [settled] = await Promise.allSettled([lock.runGuarded(request, async () => {})]);
    if (settled.status === "rejected" && !isLockError(settled.reason)) throw settled.reason;
    return settled.status === "fulfilled" && settled.value.status === "completed";
  };
  await waitUntil(isAnswering, { what: `the server of ${lock.id} to answer`, withinMs: 40_000 });
}
