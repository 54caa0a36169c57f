import type { RedisCommands } from "../../lib/locks/redis/redis-port";
import type { PubSubClient } from "../../lib/locks/redis/redis-subscriber";
import type { Link } from "../world/network";
import type { World } from "../world/world";
import type { ChannelSink, SimRedis } from "./sim-redis";

/** Models an ioredis client with `redisOptionsForLocks`: it never resends a command and fails those in flight on a lost connection. */
export function redisCommandsOver(link: Link, redis: SimRedis): RedisCommands {
  const actor = link.process.name;
  return {
    call: (name, ...parameters) => link.request(() => redis.execute({ actor, name, parameters })),
  };
}

const RECONNECT_MS = 5;

/** The subscriber connection. It does not resubscribe after a reconnect. */
export class SimPubSub implements PubSubClient, ChannelSink {
  readonly #world: World;
  readonly #link: Link;
  readonly #redis: SimRedis;
  readonly #onMessage: ((channel: string, text: string) => void)[] = [];
  readonly #onState: { readonly event: "ready" | "close"; readonly listener: () => void }[] = [];

  constructor(world: World, link: Link, redis: SimRedis) {
    this.#world = world;
    this.#link = link;
    this.#redis = redis;
    link.onClose(() => this.#closed());
  }

  subscribe(channel: string): Promise<unknown> {
    const { connection } = this.#link;
    return this.#link.request(() => {
      if (connection === this.#link.connection) this.#redis.subscribe(channel, this);
    });
  }

  unsubscribe(channel: string): Promise<unknown> {
    return this.#link.request(() => this.#redis.unsubscribe(channel, this));
  }

  on(event: "message", listener: (channel: string, text: string) => void): unknown;
  on(event: "ready" | "close", listener: () => void): unknown;
  on(event: "message" | "ready" | "close", listener: (channel: string, text: string) => void): void {
    if (event === "message") this.#onMessage.push(listener);
    else this.#onState.push({ event, listener: () => listener("", "") });
  }

  deliver(channel: string, text: string): void {
    this.#link.push(() => {
      for (const listener of this.#onMessage) listener(channel, text);
    });
  }

  #closed(): void {
    this.#redis.dropSink(this);
    const notify = (event: "ready" | "close", afterMs: number) =>
      this.#world.schedule({
        afterMs,
        process: this.#link.process,
        run: () => {
          if (event === "ready" && (this.#redis.isDown || this.#link.isBlocked))
            return void notify("ready", RECONNECT_MS * 4);
          for (const entry of this.#onState) if (entry.event === event) entry.listener();
        },
      });
    notify("close", 0);
    notify("ready", RECONNECT_MS);
  }
}
