import { type Clock, systemClock } from "../clock";
import { LockError } from "../errors";
import { type EtcdCommands, EtcdError, isEtcdError, type QueuePosition } from "./etcd-port";
import { EtcdGateway } from "./gateway";

export interface EtcdOptions {
  readonly clock?: Clock;
}

/** The parts of etcd's answers that the lock reads. Numbers are strings; zeros and empty lists are omitted. */
interface Header {
  readonly header: { readonly revision: string };
}
interface LeaseAnswer {
  readonly TTL?: string;
}
interface RangeItem {
  readonly key: string;
  readonly create_revision: string;
}
interface RangeAnswer {
  readonly kvs?: readonly RangeItem[];
}
interface TxnAnswer extends Header {
  readonly succeeded?: boolean;
  readonly responses?: readonly { readonly response_range?: RangeAnswer }[];
}
interface WatchAnswer {
  readonly canceled?: boolean;
  readonly events?: readonly { readonly type?: string }[];
}

/**
 * etcd over its JSON gateway. Connects on first use. A request fails if its connection is lost or after two seconds
 * without an answer, and is never sent twice.
 * @param url `http://host:port[,http://host:port ...]`, the members of one cluster
 * @throws {LockError} `config_invalid` if the address is not valid
 */
export function openEtcd(url: string, { clock = systemClock }: EtcdOptions = {}): EtcdCommands {
  return etcdOver(openEtcdGateway(url, clock));
}

/** @throws {LockError} `config_invalid` if the address is not valid */
export function openEtcdGateway(url: string, clock: Clock = systemClock): EtcdGateway {
  const [first = "", ...others] = url.split(",");
  return new EtcdGateway([baseOf(first), ...others.map(baseOf)], clock);
}

/** How the requests reach etcd. The simulator has another gateway. */
export type EtcdRequests = Pick<EtcdGateway, "post" | "postStreamed" | "listen" | "close">;

export function etcdOver(gateway: EtcdRequests): EtcdCommands {
  return new GatewayCommands(gateway);
}

class GatewayCommands implements EtcdCommands {
  readonly #gateway: EtcdRequests;

  constructor(gateway: EtcdRequests) {
    this.#gateway = gateway;
  }

  async grantLease({ leaseId, ttlSeconds }: { leaseId: bigint; ttlSeconds: number }): Promise<number> {
    const body = { ID: String(leaseId), TTL: String(ttlSeconds) };
    const { TTL = "0" } = await this.#gateway.post<LeaseAnswer>("/v3/lease/grant", body);
    return Number(TTL);
  }

  async keepLeaseAlive(leaseId: bigint): Promise<number> {
    const body = { ID: String(leaseId) };
    const { TTL = "0" } = await this.#gateway.postStreamed<LeaseAnswer>("/v3/lease/keepalive", body);
    return Number(TTL);
  }

  async revokeLease(leaseId: bigint): Promise<boolean> {
    try {
      await this.#gateway.post("/v3/lease/revoke", { ID: String(leaseId) });
      return true;
    } catch (error) {
      if (isEtcdError(error, "no-lease")) return false;
      throw error;
    }
  }

  /** Operations in a transaction see earlier ones, so the range request reads the queue before the put. */
  async enqueue({ folder, key, leaseId }: { folder: string; key: string; leaseId: bigint }): Promise<QueuePosition> {
    const answer = await this.#gateway.post<TxnAnswer>("/v3/kv/txn", {
      compare: [{ key: base64(key), target: "CREATE", result: "EQUAL", create_revision: "0" }],
      success: [lastOf(folder), { request_put: { key: base64(key), lease: String(leaseId) } }],
      failure: [readKey(key)],
    });
    const revision = BigInt(answer.header.revision);
    if (answer.succeeded) return { createRevision: revision, predecessor: firstKey(answer, 0), revision };
    const createRevision = BigInt(firstItem(answer, 0)?.create_revision ?? 0);
    const position = createRevision === 0n ? null : await this.#readPosition({ folder, key, createRevision });
    if (position) return position;
    throw new EtcdError("no-lease", `the key ${key} existed and was deleted, so its lease has ended`);
  }

  async findPosition(queued: { folder: string; key: string; position: QueuePosition }): Promise<QueuePosition | null> {
    const { folder, key, position } = queued;
    const { createRevision, predecessor } = position;
    return this.#readPosition({ folder, key, createRevision, lastSeen: predecessor ?? key });
  }

  /**
   * Reads the queue only if `lastSeen` is no longer in front: the predecessor, or the key itself if it had none. A
   * client with a long session unlocks and locks again under the same key, which then stands behind this one.
   */
  async #readPosition(query: {
    folder: string;
    key: string;
    createRevision: bigint;
    lastSeen?: string;
  }): Promise<QueuePosition | null> {
    const { folder, key, createRevision, lastSeen } = query;
    const isThere = { target: "CREATE", result: "GREATER", create_revision: "0" };
    const isNotBehind = { target: "CREATE", result: "LESS", create_revision: String(createRevision + 1n) };
    const compare = [isThere, isNotBehind].map((condition) => ({ key: base64(lastSeen ?? key), ...condition }));
    const read = [readKey(key), lastOf(folder, createRevision - 1n)];
    const answer = await this.#gateway.post<TxnAnswer>(
      "/v3/kv/txn",
      lastSeen === undefined ? { success: read } : { compare, success: [readKey(key)], failure: read },
    );
    if (firstKey(answer, 0) === null) return null;
    const isUnchanged = lastSeen !== undefined && answer.succeeded === true;
    const predecessorSeen = lastSeen === undefined || lastSeen === key ? null : lastSeen;
    return {
      createRevision,
      predecessor: isUnchanged ? predecessorSeen : firstKey(answer, 1),
      revision: BigInt(answer.header.revision),
    };
  }

  async removeKey(key: string): Promise<boolean> {
    const { deleted = "0" } = await this.#gateway.post<{ deleted?: string }>("/v3/kv/deleterange", {
      key: base64(key),
    });
    return deleted !== "0";
  }

  async untilDeleted(watch: { key: string; afterRevision: bigint; signal: AbortSignal }): Promise<boolean> {
    const { key, afterRevision, signal } = watch;
    let isDeleted = false;
    const body = {
      create_request: { key: base64(key), start_revision: String(afterRevision + 1n), filters: ["NOPUT"] },
    };
    const isLast = ({ events = [], canceled = false }: WatchAnswer) => {
      isDeleted = events.some(({ type }) => type === "DELETE");
      return isDeleted || canceled;
    };
    await this.#gateway.listen("/v3/watch", body, { isLast, signal });
    return isDeleted;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#gateway.close();
  }
}

/** The newest key in a folder, optionally up to a revision. */
function lastOf(folder: string, upToRevision?: bigint) {
  return {
    request_range: {
      key: base64(`${folder}/`),
      // The first key after the folder: "0" follows "/".
      range_end: base64(`${folder}0`),
      sort_target: "CREATE",
      sort_order: "DESCEND",
      limit: "1",
      keys_only: true,
      ...(upToRevision === undefined ? {} : { max_create_revision: String(upToRevision) }),
    },
  };
}

function readKey(key: string) {
  return { request_range: { key: base64(key), keys_only: true } };
}

function firstItem({ responses }: TxnAnswer, index: number): RangeItem | undefined {
  return responses?.[index]?.response_range?.kvs?.[0];
}

function firstKey(answer: TxnAnswer, index: number): string | null {
  const item = firstItem(answer, index);
  return item ? Buffer.from(item.key, "base64").toString("utf8") : null;
}

function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}

function baseOf(url: string): URL {
  const address = url.trim();
  const withScheme = /^[a-z]+:\/\//.test(address) ? address : `http://${address}`;
  if (/^https?:/.test(withScheme) && URL.canParse(withScheme)) return new URL(withScheme);
  throw new LockError({
    code: "config_invalid",
    strategyId: "etcd",
    resource: "-",
    message: `"${url}" is not an etcd address; use http://host:port`,
    isDefinite: true,
  });
}
