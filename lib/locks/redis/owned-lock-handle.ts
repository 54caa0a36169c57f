import type { GrantedReply, HandleContext, HeldReply, LockHandle } from "../lease-backend";
import { releaseScript, renewScript } from "./owner-scripts";
import type { RedisCalls } from "./redis-calls";

/** Takes the key for the context's holder. @returns what the server said */
export type Take = (calls: RedisCalls, context: HandleContext) => Promise<GrantedReply | HeldReply>;

/** A contender for a key whose value is its holder: only the holder renews it or deletes it. */
export class OwnedLockHandle implements LockHandle {
  readonly #calls: RedisCalls;
  readonly #context: HandleContext;
  readonly #take: Take;
  /** False while it is certain that the server keeps nothing of ours. */
  #mayHold = false;

  constructor(calls: RedisCalls, context: HandleContext, take: Take) {
    this.#calls = calls;
    this.#context = context;
    this.#take = take;
  }

  async tryAcquire() {
    this.#mayHold = true;
    const reply = await this.#take(this.#calls, this.#context);
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
