import { Redis, type RedisOptions } from "ioredis";

/** `redis+sentinel://host:port,host:port/name`: the master of that name, as the Sentinels at these addresses report it. */
const SENTINEL_URL = /^redis\+sentinel:\/\/([^/]+)\/(.+)$/;

/** A client for the Redis at an address. It asks the Sentinels of a Sentinel address again at each connect. */
export function redisAt(url: string, options: RedisOptions): Redis {
  const [, hosts, name] = SENTINEL_URL.exec(url) ?? [];
  if (hosts === undefined || name === undefined) return new Redis(url, options);
  const sentinels = hosts.split(",").map((host) => {
    const { hostname, port } = new URL(`redis://${host}`);
    return { host: hostname, port: Number(port) };
  });
  // The addresses are those of the Sentinels. A list that the client extends could name another lab's.
  return new Redis({ ...options, sentinels, name, updateSentinels: false });
}
