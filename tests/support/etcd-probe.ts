/** Reads etcd without the lock library. */
export interface EtcdProbe {
  /** Keys of a lock's queue, oldest first. */
  queue(resource: string): Promise<QueuedKey[]>;
  /** Remaining seconds of the lease; negative if it does not exist. */
  leaseSecondsLeft(leaseId: bigint): Promise<number>;
  removeKey(key: string): Promise<void>;
}

export interface QueuedKey {
  readonly key: string;
  readonly createRevision: bigint;
  readonly leaseId: bigint;
}

interface RangeAnswer {
  readonly kvs?: readonly { readonly key: string; readonly create_revision: string; readonly lease?: string }[];
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

export function probeEtcd(url: string): EtcdProbe {
  async function post<T>(path: string, body: unknown): Promise<T> {
    const signal = AbortSignal.timeout(5_000);
    const answer = await fetch(new URL(path, url), { method: "POST", body: JSON.stringify(body), signal });
    if (!answer.ok) throw new Error(`etcd returned HTTP ${answer.status} for ${path}: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  return {
    async queue(resource) {
      const { kvs = [] } = await post<RangeAnswer>("/v3/kv/range", {
        key: base64(`locks/${resource}/`),
        range_end: base64(`locks/${resource}0`),
        sort_target: "CREATE",
        sort_order: "ASCEND",
      });
      return kvs.map(({ key, create_revision, lease = "0" }) => ({
        key: Buffer.from(key, "base64").toString(),
        createRevision: BigInt(create_revision),
        leaseId: BigInt(lease),
      }));
    },
    async leaseSecondsLeft(leaseId) {
      const { TTL = "0" } = await post<{ TTL?: string }>("/v3/lease/timetolive", { ID: String(leaseId) });
      return Number(TTL);
    },
    async removeKey(key) {
      await post("/v3/kv/deleterange", { key: base64(key) });
    },
  };
}
