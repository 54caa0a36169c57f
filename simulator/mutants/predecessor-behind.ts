import { etcdOver } from "../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import { etcdStrategy } from "../strategies/etcd";
import type { Mutant } from "./mutant";
import { withTransactions } from "./mutated-requests";

/**
 * A waiter keeps its predecessor as long as that key exists, although a client with a long session has unlocked and locked again
 * under it. Each then waits for the other.
 */
export const predecessorBehind: Mutant = {
  name: "predecessor behind",
  strategy: etcdStrategy("etcd-lock", (gateway, dependencies) => {
    const mutated = withTransactions(gateway, ({ compare = [], ...rest }) => ({
      ...rest,
      compare: compare.filter(({ result }) => result !== "LESS"),
    }));
    return createEtcdLock(etcdOver(mutated), dependencies);
  }),
  profile: "benign",
  breaks: "liveness",
};
