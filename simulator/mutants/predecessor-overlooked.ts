import { etcdOver } from "../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import { etcdStrategy } from "../strategies/etcd";
import type { Mutant } from "./mutant";
import { withQueueReads, withTransactions } from "./mutated-requests";

/** The transaction that joins the queue reads no key that was created before, so every caller takes itself for the first. */
export const predecessorOverlooked: Mutant = {
  name: "predecessor overlooked",
  strategy: etcdStrategy("etcd-lock", (gateway, dependencies) => {
    const mutated = withTransactions(gateway, ({ success = [], ...rest }) => ({
      ...rest,
      success: withQueueReads(success, (range) => ({ ...range, max_create_revision: "1" })),
    }));
    return createEtcdLock(etcdOver(mutated), dependencies);
  }),
  profile: "benign",
  breaks: "mutual-exclusion",
};
