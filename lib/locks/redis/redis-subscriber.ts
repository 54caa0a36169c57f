/**
 * What a channel's listener is told. `subscribed`: from now on no message is missed; whatever was said before may have
 * been. It comes once for every listener, and again whenever a lost connection has been replaced. `lost`: the connection
 * is gone, and perhaps the server with it; nothing will be heard until the next `subscribed`.
 */
export type ChannelEvent =
  | { readonly kind: "subscribed" | "lost" }
  | { readonly kind: "message"; readonly text: string };

export type ChannelListener = (event: ChannelEvent) => void;

/**
 * All the library asks of publish/subscribe. Messages may be lost, and a subscription may never come about; both are told
 * by silence, so that whoever listens needs a bound of its own on every wait.
 */
export interface RedisSubscriber {
  /** @returns how to stop listening */
  subscribe(channel: string, listener: ChannelListener): () => void;
}

/** The part of an ioredis client that is needed; it must not subscribe again by itself (`autoResubscribe: false`). */
export interface PubSubClient {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: "message", listener: (channel: string, text: string) => void): unknown;
  on(event: "ready" | "close", listener: () => void): unknown;
}

interface Channel {
  readonly listeners: Set<ChannelListener>;
  /** asking -> confirmed; either falls back to lost with the connection, or when the server does not answer. */
  state: "asking" | "confirmed" | "lost";
  /** Of the asking: an answer to an earlier one says nothing about the connection of today. */
  attempt: number;
}

/**
 * One connection for all channels and listeners of a process. A channel is subscribed to while it has listeners, and
 * again each time the client is connected anew.
 */
export function shareSubscriber(client: PubSubClient): RedisSubscriber {
  const channels = new Map<string, Channel>();

  async function ask(name: string, channel: Channel): Promise<void> {
    channel.state = "asking";
    channel.attempt += 1;
    const { attempt } = channel;
    const [asked] = await Promise.allSettled([client.subscribe(name)]);
    if (channel.attempt !== attempt) return;
    // Refused or lost: the client reports the connection's errors, and "ready" brings us here again.
    if (asked.status === "rejected") channel.state = "lost";
    else if (channels.get(name) === channel) {
      channel.state = "confirmed";
      for (const listener of channel.listeners) listener({ kind: "subscribed" });
    }
  }

  function stop(name: string, channel: Channel, listener: ChannelListener): void {
    channel.listeners.delete(listener);
    if (channel.listeners.size > 0 || channels.get(name) !== channel) return;
    channels.delete(name);
    // A connection that is lost has no subscriptions to end.
    void Promise.allSettled([client.unsubscribe(name)]);
  }

  client.on("message", (name, text) => {
    for (const listener of channels.get(name)?.listeners ?? []) listener({ kind: "message", text });
  });
  client.on("close", () => {
    for (const channel of channels.values()) {
      const isNews = channel.state !== "lost";
      channel.state = "lost";
      if (isNews) for (const listener of channel.listeners) listener({ kind: "lost" });
    }
  });
  client.on("ready", () => {
    for (const [name, channel] of channels) if (channel.state === "lost") void ask(name, channel);
  });

  return {
    subscribe(name, listener) {
      const channel: Channel = channels.get(name) ?? { listeners: new Set(), state: "lost", attempt: 0 };
      const isNew = channel.listeners.size === 0;
      channel.listeners.add(listener);
      channels.set(name, channel);
      if (isNew) void ask(name, channel);
      else if (channel.state === "confirmed") {
        queueMicrotask(() => channel.listeners.has(listener) && listener({ kind: "subscribed" }));
      }
      return () => stop(name, channel, listener);
    },
  };
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** `shareSubscriber` of a separate ioredis client made with `redisOptionsForSubscriber`. */
    redisSubscriber(): RedisSubscriber;
  }
}
