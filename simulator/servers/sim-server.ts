import type { Reachable } from "../world/network";
import type { World } from "../world/world";

/** The common part of all simulated servers: name, clock, restarts, and the checks of ownership. */
export abstract class SimServer implements Reachable {
  readonly name: string;
  protected readonly world: World;
  readonly #rate: number;
  #jumpedMs = 0;
  #downUntilMs = 0;
  /** Holders whose release has been executed. */
  readonly #released = new Set<string>();

  constructor(world: World, name: string, rate: number) {
    this.world = world;
    this.name = name;
    this.#rate = rate;
  }

  get isDown(): boolean {
    return this.world.nowMs < this.#downUntilMs;
  }

  /** On the server's clock. */
  get nowMs(): number {
    return this.world.nowMs * this.#rate + this.#jumpedMs;
  }

  jumpClock(byMs: number): void {
    this.#jumpedMs += byMs;
    this.world.trace(() => `${this.name}: clock jumps by ${byMs.toFixed(0)} ms`);
  }

  restart(downMs: number, keepsData: boolean): void {
    this.#downUntilMs = this.world.nowMs + downMs;
    this.world.trace(
      () => `${this.name}: restarts ${keepsData ? "with" : "WITHOUT"} its data, down for ${downMs.toFixed(0)} ms`,
    );
    if (!keepsData) this.dropData();
    this.onRestart();
  }

  protected abstract dropData(): void;
  protected onRestart(): void {}

  /** Records a release and reports one by a process that is not the owner. `actor` and `owner` are holder IDs. */
  protected recordRelease(actor: string, owner: string): void {
    this.world.trace(() => `${this.name}: ${shorten(actor)} releases the lock of ${shorten(owner)}`);
    if (actor !== owner)
      this.world.reportViolation("ownership", `${this.name}: ${shorten(actor)} released the lock of ${shorten(owner)}`);
    this.#released.add(owner);
  }

  /** Records a renewal and reports one by a non-owner or after the release. */
  protected recordRenewal(actor: string, owner: string): void {
    this.world.trace(() => `${this.name}: ${shorten(actor)} renews the lock of ${shorten(owner)}`);
    if (actor !== owner)
      this.world.reportViolation("ownership", `${this.name}: ${shorten(actor)} renewed the lock of ${shorten(owner)}`);
    if (this.#released.has(actor))
      this.world.reportViolation(
        "renewal-after-release",
        `${this.name}: ${shorten(actor)} renewed the lock after its release`,
      );
  }
}

export function shorten(holder: string): string {
  return holder.length > 12 ? `${holder.slice(0, 8)}…${holder.slice(-4)}` : holder;
}
