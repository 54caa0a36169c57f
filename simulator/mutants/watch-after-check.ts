import { createZkMutex } from "../../lib/locks/zookeeper/zk-mutex";
import type { ZkConnection, ZkSession } from "../../lib/locks/zookeeper/zk-port";
import { zooKeeperStrategy } from "../strategies/zookeeper";
import type { Mutant } from "./mutant";

/**
 * Sets the watch without checking that the watched node still exists. If the predecessor left after the queue was read,
 * the waiter waits for a node that no longer exists.
 */
function withoutExistenceCheck(session: ZkSession): ZkSession {
  const wrapped = new WeakMap<ZkConnection, ZkConnection>();
  return {
    connected: async (signal) => {
      const connection = await session.connected(signal);
      const known = wrapped.get(connection) ?? ignoringMissingNode(connection);
      wrapped.set(connection, known);
      return known;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function ignoringMissingNode(connection: ZkConnection): ZkConnection {
  return new Proxy(connection, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "watch") return (path: string, changed: () => void) => target.watch(path, changed).then(() => true);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

export const watchAfterCheck: Mutant = {
  name: "watch set after the check",
  strategy: zooKeeperStrategy("zk-mutex", false, (session, dependencies) =>
    createZkMutex(withoutExistenceCheck(session), dependencies),
  ),
  profile: "benign",
  breaks: "liveness",
};
