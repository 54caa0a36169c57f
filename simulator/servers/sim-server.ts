import type { Reachable } from "../world/network";
import type { World } from "../world/world";

/** What all servers have: a name, a clock of their own, and times when they are gone. */
export abstract class SimServer implements Reachable {
  readonly name: string;
  protected readonly world: World;
  readonly #rate: number;
  #jumpedMs = 0;
  #upAgainAtMs = 0;
  /** Holders whose release has taken effect. */
  readonly #released = new Set<string>();

  constructor(world: World, name: string, rate: number) {
    this.world = world;
    this.name = name;
    this.#rate = rate;
  }

  get isDown(): boolean {
    return this.world.nowMs < this.#upAgainAtMs;
  }

  /** On its own clock. */
  get nowMs(): number {
    return this.world.nowMs * this.#rate + this.#jumpedMs;
  }

  jumpClock(byMs: number): void {
    this.#jumpedMs += byMs;
    this.world.say(() => `${this.name}: clock jumps by ${byMs.toFixed(0)} ms`);
  }

  restart(downMs: number, keepsData: boolean): void {
    this.#upAgainAtMs = this.world.nowMs + downMs;
    this.world.say(
      () => `${this.name}: restarts ${keepsData ? "with" : "WITHOUT"} its data, down for ${downMs.toFixed(0)} ms`,
    );
    if (!keepsData) this.forget();
    this.onRestart();
  }

  protected abstract forget(): void;
  protected onRestart(): void {}

  /** The server's own log of what freed a hold. `actor` and `owner` name holders. */
  protected noteFreed(actor: string, owner: string): void {
    this.world.say(() => `${this.name}: ${brief(actor)} frees ${brief(owner)}`);
    if (actor !== owner)
      this.world.violate("ownership", `${this.name}: ${brief(actor)} freed the hold of ${brief(owner)}`);
    this.#released.add(owner);
  }

  protected noteRenewed(actor: string, owner: string): void {
    this.world.say(() => `${this.name}: ${brief(actor)} renews ${brief(owner)}`);
    if (actor !== owner)
      this.world.violate("ownership", `${this.name}: ${brief(actor)} renewed the hold of ${brief(owner)}`);
    if (this.#released.has(actor))
      this.world.violate("renewal-after-release", `${this.name}: ${brief(actor)} renewed what it had released`);
  }
}

export function brief(holder: string): string {
  return holder.length > 12 ? `${holder.slice(0, 8)}…${holder.slice(-4)}` : holder;
}
