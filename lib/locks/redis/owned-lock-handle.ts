import type { GrantedReply, HandleContext, HeldReply, LockHandle } from "../lease-backend";
import { releaseScript, renewScript } from "./owner-scripts";
import type { RedisCalls } from "./redis-calls";

/** Acquires the key for the holder in the context. @returns the server's answer */
export type AcquireCommand = (calls: RedisCalls, context: HandleContext) => Promise<GrantedReply | HeldReply>;

/** A handle for a key whose value is the holder id: only that holder can renew or delete it. */
export class OwnedLockHandle implements LockHandle {
  readonly #calls: RedisCalls;
  readonly #context: HandleContext;
  readonly #acquire: AcquireCommand;
  /** False only if the server certainly stores nothing for this handle. */
  #mayHold = false;

  constructor(calls: RedisCalls, context: HandleContext, acquire: AcquireCommand) {
    this.#calls = calls;
    this.#context = context;
    this.#acquire = acquire;
  }

  async tryAcquire() {
    this.#mayHold = true;
    const reply = await this.#acquire(this.#calls, this.#context);
    this.#mayHold = reply.status === "granted";
    return reply;
  }

  async renew() {
    const { resource, holderId, ttlMs } = this.#context;
    return (await this.#calls.run(renewScript, [resource], [holderId, ttlMs])) === 1 ? "renewed" : "lost";
  }

  async release() {
    if (!this.#mayHold) return "released";
    const { resource, holderId } = this.#context;
    return (await this.#calls.run(releaseScript, [resource], [holderId])) === 1 ? "released" : "not_held";
  }
}
