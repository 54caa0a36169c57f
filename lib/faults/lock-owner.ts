import { openEtcdGateway } from "../locks/etcd/etcd-client";
import { ETCD_ROOT } from "../locks/etcd/etcd-lock";
import type { EtcdGateway } from "../locks/etcd/gateway";
import type { StrategyTraits } from "../locks/types";
import { firstOf, QUEUE_ROOT } from "../locks/zookeeper/lock-queue";
import { EXCLUSIVE_ROOT } from "../locks/zookeeper/zk-exclusive";
import { isZkError, type ZkConnection, type ZkSession } from "../locks/zookeeper/zk-port";
import { openZkSession } from "../locks/zookeeper/zk-session";
import { env } from "../services/current-env";

const ANSWER_LIMIT_MS = 2_000;

/** The entry that holds a lock in ZooKeeper or etcd, and what keeps it there. */
export interface LockOwner {
  /** Path of the node, or the key. */
  readonly entry: string;
  /** The session or the lease, hex. */
  readonly owner: string;
}

/** Reads who owns a lock. Uses a separate connection, as an operator would. */
export interface LockView extends AsyncDisposable {
  /** @returns null if the lock is free */
  owner(): Promise<LockOwner | null>;
}

/** True if the lock's entry lives as long as a session of ZooKeeper or a lease of etcd. */
export function hasLockView({ kind, needs }: StrategyTraits): boolean {
  return kind === "lock" && (needs.includes("zookeeper") || needs.includes("etcd"));
}

/** @param address of the server that has the lock; absent: the lab's */
export function openLockView({ needs, fair }: StrategyTraits, resource: string, address?: string): LockView {
  if (needs.includes("etcd")) {
    return etcdView(openEtcdGateway(address ?? env().ETCD_URL ?? ""), `${ETCD_ROOT}/${resource}`);
  }
  const session = openZkSession(address ?? env().ZOOKEEPER_HOSTS ?? "");
  return zooKeeperView(session, fair ? `${QUEUE_ROOT}/${resource}` : `${EXCLUSIVE_ROOT}/${resource}`, fair);
}

function zooKeeperView(session: ZkSession, path: string, isQueue: boolean): LockView {
  return {
    async owner() {
      const connection = await session.connected(AbortSignal.timeout(ANSWER_LIMIT_MS));
      const first = isQueue ? firstOf(await childrenOf(connection, path)) : "";
      if (first === null) return null;
      const entry = isQueue ? `${path}/${first}` : path;
      const stat = await connection.stat(entry);
      return stat === null ? null : { entry, owner: stat.ephemeralOwner };
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

/** The folder of a lock exists once a client has asked for the lock. */
async function childrenOf(connection: ZkConnection, path: string): Promise<string[]> {
  return connection.children(path).catch((error: unknown) => {
    if (isZkError(error, "no-node")) return [];
    throw error;
  });
}

interface RangeAnswer {
  readonly kvs?: readonly { readonly key: string; readonly lease?: string }[];
}

function etcdView(gateway: EtcdGateway, folder: string): LockView {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  // The first key after the folder: "0" follows "/".
  const range = { key: base64(`${folder}/`), range_end: base64(`${folder}0`) };
  return {
    async owner() {
      const oldest = { ...range, sort_target: "CREATE", sort_order: "ASCEND", limit: "1" };
      const [item] = (await gateway.post<RangeAnswer>("/v3/kv/range", oldest)).kvs ?? [];
      if (!item) return null;
      return { entry: Buffer.from(item.key, "base64").toString(), owner: BigInt(item.lease ?? 0).toString(16) };
    },
    [Symbol.asyncDispose]: async () => gateway.close(),
  };
}
