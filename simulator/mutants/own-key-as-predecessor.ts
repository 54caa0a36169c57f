import { etcdOver } from "../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import { etcdStrategy } from "../strategies/etcd";
import type { Mutant } from "./mutant";
import { withQueueReads, withTransactions } from "./mutated-requests";

/** A waiter whose predecessor is gone reads the queue up to its own create revision, finds its own key and waits for it. */
export const ownKeyAsPredecessor: Mutant = {
  name: "own key as predecessor",
  strategy: etcdStrategy("etcd-lock", (gateway, dependencies) => {
    const mutated = withTransactions(gateway, ({ failure = [], ...rest }) => ({
      ...rest,
      failure: withQueueReads(failure, ({ max_create_revision: latest = "0", ...range }) => ({
        ...range,
        max_create_revision: String(BigInt(latest) + 1n),
      })),
    }));
    return createEtcdLock(etcdOver(mutated), dependencies);
  }),
  profile: "benign",
  breaks: "liveness",
};
