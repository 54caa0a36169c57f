import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import type { EtcdCommands } from "../../lib/locks/etcd/etcd-port";
import { etcdStrategy } from "../strategies/etcd";
import type { Mutant } from "./mutant";

const AN_HOUR_SECONDS = 3_600;
const NO_REVISION_YET = 2n ** 62n;

/** Disables the fallback re-read: the lease is reported as an hour long, so only the watch can end the wait. */
function withoutFallback(etcd: EtcdCommands): EtcdCommands {
  return {
    ...etcd,
    grantLease: async (lease) => {
      await etcd.grantLease(lease);
      return AN_HOUR_SECONDS;
    },
  };
}

/** Watches from the arrival of the request instead of the revision at which the queue was read, so it misses deletions in between. */
function watchingFromNow(etcd: EtcdCommands): EtcdCommands {
  return { ...etcd, untilDeleted: (watch) => etcd.untilDeleted({ ...watch, afterRevision: NO_REVISION_YET }) };
}

/** Without the fallback, one lost message would break even the correct lock. */
const NOTHING_LOST = { dropChance: 0 };

export const watchFromNow: Mutant = {
  name: "watch from now on",
  strategy: etcdStrategy(
    "etcd-lock",
    (etcd, dependencies) => createEtcdLock(watchingFromNow(withoutFallback(etcd)), dependencies),
    NOTHING_LOST,
  ),
  control: etcdStrategy(
    "etcd-lock",
    (etcd, dependencies) => createEtcdLock(withoutFallback(etcd), dependencies),
    NOTHING_LOST,
  ),
  profile: "benign",
  breaks: "liveness",
};
