import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import type { EtcdCommands } from "../../lib/locks/etcd/etcd-port";
import { oneEtcd } from "../strategies/others";
import type { Mutant } from "./mutant";

const AN_HOUR_SECONDS = 3_600;
const NO_REVISION_YET = 2n ** 62n;

/** Never looks by itself, as far as a wait of this length goes: only the watch can end it. */
function withoutFallback(etcd: EtcdCommands): EtcdCommands {
  return {
    ...etcd,
    grantLease: async (lease) => {
      await etcd.grantLease(lease);
      return AN_HOUR_SECONDS;
    },
  };
}

/** Watches from when the request arrives, not from the revision at which the queue was read: what happened between is lost. */
function watchingFromNow(etcd: EtcdCommands): EtcdCommands {
  return { ...etcd, untilDeleted: (watch) => etcd.untilDeleted({ ...watch, afterRevision: NO_REVISION_YET }) };
}

/** Without the fallback a lost message alone would break it, mistake or not. */
const NOTHING_LOST = { dropChance: 0 };

export const watchFromNow: Mutant = {
  name: "watch from now on",
  strategy: oneEtcd(
    "etcd-lock",
    (etcd, dependencies) => createEtcdLock(watchingFromNow(withoutFallback(etcd)), dependencies),
    NOTHING_LOST,
  ),
  twin: oneEtcd("etcd-lock", (etcd, dependencies) => createEtcdLock(withoutFallback(etcd), dependencies), NOTHING_LOST),
  profile: "benign",
  breaks: "liveness",
};
