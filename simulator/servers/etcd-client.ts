import type { EtcdRequests } from "../../lib/locks/etcd/etcd-client";
import { EtcdError } from "../../lib/locks/etcd/etcd-port";
import type { Link } from "../world/network";
import type { World } from "../world/world";
import type { WatchRequest } from "./etcd-requests";
import type { SimEtcd } from "./sim-etcd";

export interface EtcdClientParts {
  readonly world: World;
  readonly server: SimEtcd;
  /** Each request uses a random link, so that requests can overtake one another. */
  readonly links: readonly [Link, ...Link[]];
  /** Carries the watches. */
  readonly watchLink: Link;
}

/** The gateway of a process: its requests arrive at the simulated server as the client wrote them. */
export function etcdGatewayOver({ world, server, links, watchLink }: EtcdClientParts): EtcdRequests {
  const actor = watchLink.process.name;
  const send = async <T>(path: string, body: unknown): Promise<T> => {
    try {
      return (await world.random.pick(links).request(() => server.answer(actor, path, body))) as T;
    } catch (error) {
      if (error instanceof EtcdError) throw error;
      throw new EtcdError("unreachable", error instanceof Error ? error.message : String(error), error);
    }
  };
  const openWatches = new Set<() => void>();
  watchLink.onClose(() => {
    for (const lost of [...openWatches]) world.schedule({ afterMs: 0, process: watchLink.process, run: lost });
  });

  const listen: EtcdRequests["listen"] = (_path, body, { isLast, signal }) => {
    if (signal.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      let cancel = () => {};
      const end = (wasLast: boolean) => {
        signal.removeEventListener("abort", onAbort);
        openWatches.delete(lost);
        cancel();
        resolve(wasLast);
      };
      const onAbort = () => end(false);
      const lost = () => end(false);
      const deliver = (message: unknown) =>
        watchLink.push(() => {
          if (isLast(message as Parameters<typeof isLast>[0])) end(true);
        });
      signal.addEventListener("abort", onAbort, { once: true });
      openWatches.add(lost);
      const watching = watchLink.request(() => {
        cancel = server.watch(body as WatchRequest, deliver);
      });
      // Ignore the error here: the close listener of the link ends the watch.
      void Promise.allSettled([watching]);
    });
  };

  return { post: send, postStreamed: send, listen, close: () => {} };
}
