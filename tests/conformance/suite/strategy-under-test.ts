import { randomUUID } from "node:crypto";
import type { LockEntry } from "../../../lib/locks/create-lock";
import { isLockError } from "../../../lib/locks/errors";
import type { LockOutcome, LockRequest, LockStrategy, ServerId, StrategyTraits } from "../../../lib/locks/types";
import { type LockClients, type LockServers, openLockClients } from "../../support/lock-clients";
import { waitUntil } from "../../support/wait-until";
import { makeLock, nameOf, postgresOptions, type TestSetup } from "./test-setup";
import type { Worker } from "./worker";
import { openWorkers } from "./worker-pool";

/** As short as every server can keep a lease: Memcached and etcd count whole seconds. */
export const SHORT_TTL_MS = 1_000;

/** Hardly a case wants a session of this process to end, however busy the machine. */
const LONG_SESSION_MS = 10_000;

/** What is being tested, with all that a case needs to test it. */
export class StrategyUnderTest implements AsyncDisposable {
  readonly plug: TestSetup;
  /** A lock's are its own word: an option may change what it promises. */
  traits: StrategyTraits;
  readonly foreign: LockEntry | null;
  readonly clients: LockClients;
  readonly #once = new Map<string, Promise<unknown>>();
  #workers: Promise<readonly Worker[]> | null = null;

  constructor(plug: TestSetup, known: { readonly traits: StrategyTraits; readonly foreign: LockEntry | null }) {
    this.plug = plug;
    this.traits = known.traits;
    this.foreign = known.foreign;
    this.clients = openLockClients({}, { postgres: postgresOptions(plug), sessionTimeoutMs: LONG_SESSION_MS });
  }

  get name(): string {
    return nameOf(this.plug);
  }

  /** The server the strategy lives by; null where it needs none. */
  get service(): ServerId | null {
    return this.traits.needs[0] ?? null;
  }

  /** Three processes with the strategy open in each. */
  workers(): Promise<readonly Worker[]> {
    this.#workers ??= openWorkers(this.plug);
    return this.#workers;
  }

  /** What several cases look at is done once. */
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

/** A lock, with the requests of a test. */
export class LockUnderTest extends StrategyUnderTest {
  readonly lock: LockStrategy;

  constructor(...args: ConstructorParameters<typeof StrategyUnderTest>) {
    super(...args);
    this.lock = makeLock(this.plug, this.foreign, this.clients);
    this.traits = this.lock.traits;
  }

  fresh(overrides: Partial<LockRequest> = {}): LockRequest {
    return { resource: `test:${randomUUID()}`, waitTimeoutMs: 10_000, ttlMs: 5_000, ...overrides };
  }

  /** Takes the lock if it is free now. */
  tryNow({ resource, ttlMs }: LockRequest): Promise<LockOutcome<string>> {
    return this.lock.runGuarded({ resource, ttlMs, waitTimeoutMs: 0 }, async () => "entered");
  }

  /** The same lock on clients of its own, whose servers may be elsewhere. */
  async open(servers: Partial<LockServers>, sessionTimeoutMs = LONG_SESSION_MS): Promise<OpenedLock> {
    const clients = openLockClients(servers, { postgres: postgresOptions(this.plug), sessionTimeoutMs });
    const lock = makeLock(this.plug, this.foreign, clients);
    const dispose = async () => {
      await lock[Symbol.asyncDispose]();
      await clients[Symbol.asyncDispose]();
    };
    try {
      await connect(lock, this.fresh());
    } catch (error) {
      await dispose();
      throw error;
    }
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

/** Calls until the server serves: one that was started just now may need a while on a busy machine. */
async function connect(lock: LockStrategy, request: LockRequest): Promise<void> {
  const isServed = async () => {
    const [settled] = await Promise.allSettled([lock.runGuarded(request, async () => {})]);
    if (settled.status === "rejected" && !isLockError(settled.reason)) throw settled.reason;
    return settled.status === "fulfilled" && settled.value.status === "completed";
  };
  await waitUntil(isServed, { what: `${lock.id} to be served`, withinMs: 40_000 });
}
