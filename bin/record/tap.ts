import type { ToxicKind } from "../../lib/faults/proxy/toxic";
import type { ServerProxy } from "../../lib/faults/run-proxies";
import { nowNs } from "../../lib/services/monotonic";
import type { ServerId } from "../../servers/all-servers";
import { EtcdReader } from "./wire/etcd-reader";
import { MemcachedReader } from "./wire/memcached-reader";
import { PostgresReader } from "./wire/postgres-reader";
import { RedisReader } from "./wire/redis-reader";
import type { WireCommand, WireReader } from "./wire/wire-reader";
import { ZookeeperReader } from "./wire/zookeeper-reader";

/** Something that went over one buyer's connections. */
export type Seen =
  | { readonly kind: "sent"; readonly command: WireCommand; readonly atNs: bigint; readonly proxy: ServerProxy }
  | { readonly kind: "reply"; readonly command: WireCommand; readonly atNs: bigint; readonly proxy: ServerProxy }
  | { readonly kind: "notice"; readonly text: string; readonly atNs: bigint; readonly proxy: ServerProxy };

export interface TapOptions {
  readonly onSeen: (seen: Seen) => void;
  /** Waited for before commands that can change data are forwarded. */
  readonly beforeChange: () => Promise<void>;
}

const READERS: Readonly<Record<ServerId, () => WireReader>> = {
  postgres: () => new PostgresReader(),
  redis: () => new RedisReader(),
  redlock: () => new RedisReader(),
  memcached: () => new MemcachedReader(),
  zookeeper: () => new ZookeeperReader(),
  etcd: () => new EtcdReader(),
};

/** Reads everything that goes through the proxy from now on. It changes no byte. */
export function tap(proxy: ServerProxy, { onSeen, beforeChange }: TapOptions): void {
  const readers = new WeakMap<object, WireReader>();
  const readerOf = (connection: object) => {
    const reader = readers.get(connection) ?? READERS[proxy.server]();
    readers.set(connection, reader);
    return reader;
  };
  const upstream: ToxicKind<unknown> = {
    type: "tap",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        const commands = readerOf(flow.connection).sent(chunk.data);
        if (commands.some(({ changes }) => changes)) await beforeChange();
        const atNs = nowNs();
        for (const command of commands) onSeen({ kind: "sent", command, atNs, proxy });
        flow.forward();
      }
      flow.end();
    },
  };
  const downstream: ToxicKind<unknown> = {
    type: "tap",
    defaults: {},
    async pipe(flow) {
      for (let chunk = await flow.next(); chunk; chunk = await flow.next()) {
        const atNs = nowNs();
        for (const message of readerOf(flow.connection).received(chunk.data)) {
          if (message.kind === "reply") onSeen({ kind: "reply", command: message.to, atNs, proxy });
          else onSeen({ kind: "notice", text: message.text, atNs, proxy });
        }
        flow.forward();
      }
      flow.end();
    },
  };
  const common = { toxicity: 1, attributes: {} };
  proxy.proxy.addToxic({ ...common, name: "tap-up", kind: upstream, stream: "upstream" });
  proxy.proxy.addToxic({ ...common, name: "tap-down", kind: downstream, stream: "downstream" });
}
