import { readFeed } from "../runs/queries";
import { processSingleton } from "../services/singleton";
import type { StreamedAnswer } from "./answer";
import { notFound } from "./errors";
import { RunFeed, type RunFeedOptions } from "./run-feed";
import { eventStream, requireFreeStream } from "./sse";

export interface WatchRequest {
  readonly id: string;
  /** The client has the samples up to this number. */
  readonly afterSeq: number;
  readonly clientClosed: AbortSignal;
}

/** The feeds of the runs that clients of this process watch: one per run. */
export class RunFeeds {
  readonly #read: RunFeedOptions["read"];
  readonly #feeds = new Map<string, RunFeed>();

  constructor(read: RunFeedOptions["read"]) {
    this.#read = read;
  }

  /** Feeds with watchers. */
  get size(): number {
    return this.#feeds.size;
  }

  /** @throws HttpError `not_found`, `too_many_streams` */
  async watch({ id, afterSeq, clientClosed }: WatchRequest): Promise<StreamedAnswer> {
    requireFreeStream();
    const feed = this.#feeds.get(id) ?? new RunFeed({ id, read: this.#read });
    this.#feeds.set(id, feed);
    feed.join();
    const leave = () => {
      feed.leave();
      if (feed.watchers === 0) this.#feeds.delete(id);
    };
    try {
      if (!(await feed.load())) throw notFound(`run ${id}`);
      return eventStream({ clientClosed, events: (signal) => feed.watch(afterSeq, signal), end: leave });
    } catch (error) {
      leave();
      throw error;
    }
  }
}

export function runFeeds(): RunFeeds {
  return processSingleton("run-feeds", () => new RunFeeds(readFeed));
}
