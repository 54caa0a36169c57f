import { createZkMutex } from "../../lib/locks/zookeeper/zk-mutex";
import type { ZkConnection, ZkSession } from "../../lib/locks/zookeeper/zk-port";
import { oneZooKeeper } from "../strategies/others";
import type { Mutant } from "./mutant";

/**
 * Sets the watch and does not look whether the node it watches was still there: a predecessor that left since the queue
 * was read is waited for.
 */
function withoutLook(session: ZkSession): ZkSession {
  const blind = new WeakMap<ZkConnection, ZkConnection>();
  return {
    connected: async (signal) => {
      const connection = await session.connected(signal);
      const known = blind.get(connection) ?? blindTo(connection);
      blind.set(connection, known);
      return known;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

function blindTo(connection: ZkConnection): ZkConnection {
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
  strategy: oneZooKeeper("zk-mutex", false, (session, dependencies) =>
    createZkMutex(withoutLook(session), dependencies),
  ),
  profile: "benign",
  breaks: "liveness",
};
