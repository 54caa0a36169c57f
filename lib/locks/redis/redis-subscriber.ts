/**
 * An event of a channel.
 * - `subscribed`: from now on no message is missed; earlier ones may have been. Every listener gets it once, and again
 *   after each reconnect.
 * - `lost`: the connection is lost, so no message arrives until the next `subscribed`.
 */
export type ChannelEvent =
  | { readonly kind: "subscribed" | "lost" }
  | { readonly kind: "message"; readonly text: string };

export type ChannelListener = (event: ChannelEvent) => void;

/**
 * The publish/subscribe client that the library needs. Messages may be lost and a subscription may never be confirmed,
 * both without an event, so a listener must limit its wait.
 */
export interface RedisSubscriber {
  /** @returns a function that removes the listener */
  subscribe(channel: string, listener: ChannelListener): () => void;
}

/** The part of an ioredis client that is needed. It must not resubscribe itself (`autoResubscribe: false`). */
export interface PubSubClient {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: "message", listener: (channel: string, text: string) => void): unknown;
  on(event: "ready" | "close", listener: () => void): unknown;
}

interface Channel {
  readonly listeners: Set<ChannelListener>;
  /** pending -> confirmed. Either becomes `lost` with the connection, or if the server rejects the subscription. */
  state: "pending" | "confirmed" | "lost";
  /** Number of the latest SUBSCRIBE: an answer to an earlier one belongs to an earlier connection. */
  attempt: number;
}

/**
 * Shares one connection between all channels and listeners of a process. Subscribes to a channel while it has
 * listeners, and again after each reconnect.
 */
export function shareSubscriber(client: PubSubClient): RedisSubscriber {
  const channels = new Map<string, Channel>();

  async function confirmSubscription(name: string, channel: Channel): Promise<void> {
    channel.state = "pending";
    channel.attempt += 1;
    const { attempt } = channel;
    const [subscribed] = await Promise.allSettled([client.subscribe(name)]);
    if (channel.attempt !== attempt) return;
    // The client reports connection errors itself, and "ready" triggers another attempt.
    if (subscribed.status === "rejected") channel.state = "lost";
    else if (channels.get(name) === channel) {
      channel.state = "confirmed";
      for (const listener of channel.listeners) listener({ kind: "subscribed" });
    }
  }

  function removeListener(name: string, channel: Channel, listener: ChannelListener): void {
    channel.listeners.delete(listener);
    if (channel.listeners.size > 0 || channels.get(name) !== channel) return;
    channels.delete(name);
    // On a lost connection there is no subscription to end.
    void Promise.allSettled([client.unsubscribe(name)]);
  }

  client.on("message", (name, text) => {
    for (const listener of channels.get(name)?.listeners ?? []) listener({ kind: "message", text });
  });
  client.on("close", () => {
    for (const channel of channels.values()) {
      const wasConnected = channel.state !== "lost";
      channel.state = "lost";
      if (wasConnected) for (const listener of channel.listeners) listener({ kind: "lost" });
    }
  });
  client.on("ready", () => {
    for (const [name, channel] of channels) if (channel.state === "lost") void confirmSubscription(name, channel);
  });

  return {
    subscribe(name, listener) {
      const channel: Channel = channels.get(name) ?? { listeners: new Set(), state: "lost", attempt: 0 };
      const isNew = channel.listeners.size === 0;
      channel.listeners.add(listener);
      channels.set(name, channel);
      if (isNew) void confirmSubscription(name, channel);
      else if (channel.state === "confirmed") {
        queueMicrotask(() => channel.listeners.has(listener) && listener({ kind: "subscribed" }));
      }
      return () => removeListener(name, channel, listener);
    },
  };
}

declare module "../lock-entry" {
  interface LockDependencies {
    /** `shareSubscriber` of a separate ioredis client made with `redisOptionsForSubscriber`. */
    redisSubscriber(): RedisSubscriber;
  }
}
