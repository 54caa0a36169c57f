import { EtcdError } from "../../lib/locks/etcd/etcd-port";
import type { World } from "../world/world";
import { base64Of, type RangeRequest, textOf } from "./etcd-requests";
import type { SimEtcd } from "./sim-etcd";

const NAME = "session";
const LEASE_ID = "1";
/** Outlives every world. */
const LEASE_SECONDS = 86_400;
/** Short, so that the time limits of the other clients hold beside this one. */
const LONGEST_HOLD_MS = 10;
const LONGEST_PAUSE_MS = 50;

interface QueueAnswer {
  readonly header: { readonly revision: string };
  readonly responses: readonly { readonly response_range?: { readonly kvs: readonly { readonly key: string }[] } }[];
}

/**
 * Another client of the same queue, written like Go's `concurrency.Mutex`: it keeps one session and locks again and again under the
 * same key. A key that was in front of a waiter is then behind it. Its requests arrive without delay. It ends when its lease is gone.
 */
export class EtcdSession {
  readonly #world: World;
  readonly #server: SimEtcd;
  readonly #folder: string;
  readonly #key: string;

  constructor(world: World, server: SimEtcd, resource: string) {
    this.#world = world;
    this.#server = server;
    this.#folder = `locks/${resource}/`;
    this.#key = base64Of(`${this.#folder}${LEASE_ID}`);
  }

  start(): void {
    this.#server.answer(NAME, "/v3/lease/grant", { ID: LEASE_ID, TTL: String(LEASE_SECONDS) });
    this.#after(LONGEST_PAUSE_MS, () => this.#join());
  }

  #join(): void {
    try {
      const joined = this.#transact({ request_put: { key: this.#key, lease: LEASE_ID } });
      this.#enterOrWait(BigInt(joined.header.revision));
    } catch (error) {
      // The server restarted without its data.
      if (!(error instanceof EtcdError && error.kind === "no-lease")) throw error;
    }
  }

  #enterOrWait(createRevision: bigint): void {
    const range: RangeRequest = {
      key: base64Of(this.#folder),
      range_end: base64Of(this.#folder.replace(/\/$/, "0")),
      sort_order: "DESCEND",
      limit: "1",
      max_create_revision: String(createRevision - 1n),
    };
    const { header, responses } = this.#transact({ request_range: range });
    const predecessor = responses[0]?.response_range?.kvs[0];
    if (!predecessor) {
      this.#after(LONGEST_HOLD_MS, () => this.#leave());
      return;
    }
    this.#world.trace(() => `${NAME}: waits for ${textOf(predecessor.key).slice(-8)}`);
    const watch = { key: predecessor.key, start_revision: String(BigInt(header.revision) + 1n) };
    this.#server.watch({ create_request: watch }, () => this.#after(0, () => this.#enterOrWait(createRevision)));
  }

  #leave(): void {
    this.#server.answer(NAME, "/v3/kv/deleterange", { key: this.#key });
    this.#after(LONGEST_PAUSE_MS, () => this.#join());
  }

  #transact(request: object): QueueAnswer {
    return this.#server.answer(NAME, "/v3/kv/txn", { success: [request] }) as QueueAnswer;
  }

  #after(longestMs: number, run: () => void): void {
    this.#world.schedule({ afterMs: this.#world.random.between(0, longestMs), run });
  }
}
