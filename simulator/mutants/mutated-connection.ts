import type { ZkConnection, ZkSession } from "../../lib/locks/zookeeper/zk-port";

/** Replaces operations of every connection of a session. */
export function withConnections(
  session: ZkSession,
  mutate: (connection: ZkConnection) => Partial<ZkConnection>,
): ZkSession {
  const wrapped = new WeakMap<ZkConnection, ZkConnection>();
  return {
    connected: async (signal) => {
      const connection = await session.connected(signal);
      const known = wrapped.get(connection) ?? overriding(connection, mutate(connection));
      wrapped.set(connection, known);
      return known;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function overriding(connection: ZkConnection, replaced: Partial<ZkConnection>): ZkConnection {
  return new Proxy(connection, {
    get: (target, name) => {
      if (name in replaced) return Reflect.get(replaced, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
