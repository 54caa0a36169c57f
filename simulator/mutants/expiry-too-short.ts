import { createMemcachedAdd } from "../../lib/locks/memcached/memcached-add";
import type { MemcachedCommands, MemcachedItem } from "../../lib/locks/memcached/memcached-port";
import { memcachedStrategy } from "../strategies/memcached";
import type { Mutant } from "./mutant";

/** What the server's clock may take off an expiry is not added to it. */
const MISSING_SECONDS = 2;

function withShortExpiry(client: MemcachedCommands): MemcachedCommands {
  const shortened = (item: MemcachedItem): MemcachedItem =>
    item.expirySeconds > MISSING_SECONDS ? { ...item, expirySeconds: item.expirySeconds - MISSING_SECONDS } : item;
  return {
    add: (item) => client.add(shortened(item)),
    set: (item) => client.set(shortened(item)),
    gets: (key) => client.gets(key),
    cas: (item, version) => client.cas(shortened(item), version),
    increment: (key, by) => client.increment(key, by),
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}

export const expiryTooShort: Mutant = {
  name: "expiry without the server's lateness",
  strategy: memcachedStrategy("memcached-add", (client, dependencies) =>
    createMemcachedAdd(withShortExpiry(client), dependencies),
  ),
  profile: "benign",
  breaks: "mutual-exclusion",
};
