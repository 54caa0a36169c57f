import { type EtcdRequests, etcdOver } from "../../lib/locks/etcd/etcd-client";
import { createEtcdLock } from "../../lib/locks/etcd/etcd-lock";
import type { WatchRequest } from "../servers/etcd-requests";
import { etcdStrategy } from "../strategies/etcd";
import type { Mutant } from "./mutant";

const AN_HOUR_SECONDS = 3_600;
const NO_REVISION_YET = 2n ** 62n;

/** Disables the fallback re-read: the lease is reported as an hour long, so only the watch can end the wait. */
function withoutFallback(gateway: EtcdRequests): EtcdRequests {
  return {
    ...gateway,
    post: async <T>(path: string, body: unknown) => {
      const answer = await gateway.post<T>(path, body);
      return path === "/v3/lease/grant" ? { ...answer, TTL: String(AN_HOUR_SECONDS) } : answer;
    },
  };
}

/** Watches from the arrival of the request instead of the revision at which the queue was read, so it misses deletions in between. */
function watchingFromNow(gateway: EtcdRequests): EtcdRequests {
  const listen: EtcdRequests["listen"] = (path, body, how) => {
    const { create_request: watch } = body as WatchRequest;
    return gateway.listen(path, { create_request: { ...watch, start_revision: String(NO_REVISION_YET) } }, how);
  };
  return { ...gateway, listen };
}

/** Without the fallback, one lost message would break even the correct lock. */
const NOTHING_LOST = { dropChance: 0 };

export const watchFromNow: Mutant = {
  name: "watch from now on",
  strategy: etcdStrategy(
    "etcd-lock",
    (gateway, dependencies) => createEtcdLock(etcdOver(watchingFromNow(withoutFallback(gateway))), dependencies),
    NOTHING_LOST,
  ),
  control: etcdStrategy(
    "etcd-lock",
    (gateway, dependencies) => createEtcdLock(etcdOver(withoutFallback(gateway)), dependencies),
    NOTHING_LOST,
  ),
  profile: "benign",
  breaks: "liveness",
};
