import { etcdOver } from "../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import { etcdStrategy } from "../strategies/etcd";
import type { Mutant } from "./mutant";
import { withTransactions } from "./mutated-requests";

/** The key in the queue is not attached to the lease, so it outlives a holder that crashes. */
export const keyWithoutLease: Mutant = {
  name: "key without a lease",
  strategy: etcdStrategy("etcd-lock", (gateway, dependencies) => {
    const mutated = withTransactions(gateway, ({ success = [], ...rest }) => ({
      ...rest,
      success: success.map(({ request_put: put, ...other }) =>
        put ? { ...other, request_put: { key: put.key } } : other,
      ),
    }));
    return createEtcdLock(etcdOver(mutated), dependencies);
  }),
  profile: "benign",
  breaks: "liveness",
};
