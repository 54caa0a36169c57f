import { createZkMutex } from "../../lib/locks/zookeeper/zk-mutex";
import { zooKeeperStrategy } from "../strategies/zookeeper";
import type { Mutant } from "./mutant";
import { withConnections } from "./mutated-connection";

/**
 * Sets the watch without checking that the watched node still exists. If the predecessor left after the queue was read,
 * the waiter waits for a node that no longer exists.
 */
export const watchAfterCheck: Mutant = {
  name: "watch set after the check",
  strategy: zooKeeperStrategy("zk-mutex", false, (session, dependencies) => {
    const mutated = withConnections(session, (connection) => ({
      watch: (path, changed) => connection.watch(path, changed).then(() => true),
    }));
    return createZkMutex(mutated, dependencies);
  }),
  profile: "benign",
  breaks: "liveness",
};
