import { type EtcdCommands, EtcdError } from "../../lib/locks/etcd/etcd-port";
import type { Link } from "../world/network";
import type { World } from "../world/world";
import type { SimEtcd } from "./sim-etcd";

export interface EtcdClientParts {
  readonly world: World;
  readonly server: SimEtcd;
  /** Each request uses a random link, so that requests can overtake one another. */
  readonly links: readonly [Link, ...Link[]];
  /** Carries the watches. */
  readonly watchLink: Link;
}

export function etcdCommandsOver({ world, server, links, watchLink }: EtcdClientParts): EtcdCommands {
  const actor = watchLink.process.name;
  const send = async <T>(execute: () => T): Promise<T> => {
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
      // Ignore the error here: the close listener of the link ends the watch.
      void Promise.allSettled([watching]);
    });
  }

  return {
    grantLease: ({ leaseId, ttlSeconds }) => send(() => server.grantLease(actor, leaseId, ttlSeconds)),
    keepLeaseAlive: (leaseId) => send(() => server.keepLeaseAlive(actor, leaseId)),
    revokeLease: (leaseId) => send(() => server.revokeLease(actor, leaseId)),
    enqueue: ({ folder, key, leaseId }) => send(() => server.enqueue(folder, key, leaseId)),
    findPosition: ({ folder, key, position }) => send(() => server.findPosition(folder, key, position)),
    removeKey: (key) => send(() => server.removeKey(actor, key)),
    untilDeleted,
    [Symbol.asyncDispose]: async () => {},
  };
}
