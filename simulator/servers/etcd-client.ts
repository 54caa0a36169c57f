import { type EtcdCommands, EtcdError } from "../../lib/locks/etcd/etcd-port";
import type { Link } from "../world/network";
import type { World } from "../world/world";
import type { SimEtcd } from "./sim-etcd";

export interface EtcdClientParts {
  readonly world: World;
  readonly server: SimEtcd;
  /** Requests go over any of them, so that they overtake one another. */
  readonly links: readonly [Link, ...Link[]];
  /** For watches. */
  readonly watchLink: Link;
}

export function etcdOver({ world, server, links, watchLink }: EtcdClientParts): EtcdCommands {
  const actor = watchLink.process.name;
  const ask = async <T>(execute: () => T): Promise<T> => {
    try {
      return await world.random.pick(links).request(execute);
    } catch (error) {
      if (error instanceof EtcdError) throw error;
      throw new EtcdError("unreachable", error instanceof Error ? error.message : String(error), error);
    }
  };
  const openWatches = new Set<() => void>();
  watchLink.onClose(() => {
    for (const lost of [...openWatches]) world.schedule({ afterMs: 0, process: watchLink.process, run: lost });
  });

  function untilDeleted(watch: { key: string; afterRevision: bigint; signal: AbortSignal }): Promise<boolean> {
    const { key, afterRevision, signal } = watch;
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      let cancel = () => {};
      const end = (isDeleted: boolean) => {
        signal.removeEventListener("abort", onAbort);
        openWatches.delete(lost);
        cancel();
        resolve(isDeleted);
      };
      const onAbort = () => end(false);
      const lost = () => end(false);
      const fire = () => watchLink.push(() => end(true));
      signal.addEventListener("abort", onAbort, { once: true });
      openWatches.add(lost);
      const watching = watchLink.request(() => {
        const stop = server.watchDeletion({ key, fire }, afterRevision);
        if (stop) cancel = stop;
        else fire();
      });
      // A connection that is lost is told by its closing.
      void Promise.allSettled([watching]);
    });
  }

  return {
    grantLease: ({ leaseId, ttlSeconds }) => ask(() => server.grantLease(actor, leaseId, ttlSeconds)),
    keepLeaseAlive: (leaseId) => ask(() => server.keepLeaseAlive(actor, leaseId)),
    revokeLease: (leaseId) => ask(() => server.revokeLease(actor, leaseId)),
    enqueue: ({ folder, key, leaseId }) => ask(() => server.enqueue(folder, key, leaseId)),
    findPosition: ({ folder, key, place }) => ask(() => server.findPosition(folder, key, place)),
    removeKey: (key) => ask(() => server.removeKey(actor, key)),
    untilDeleted,
    [Symbol.asyncDispose]: async () => {},
  };
}
