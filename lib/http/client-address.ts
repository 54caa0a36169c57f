import type { IncomingMessage } from "node:http";
import { BlockList, isIP, isIPv4 } from "node:net";
import { env } from "../services/current-env";
import { processSingleton } from "../services/singleton";

/** The address of a request's client, as far as TRUSTED_PROXIES lets this process know it; empty if the socket is closed. */
export function clientAddress({ socket, headers }: Pick<IncomingMessage, "socket" | "headers">): string {
  return addressBehind(proxiesOfLab(), socket.remoteAddress ?? "", headers["x-forwarded-for"]);
}

/**
 * Returns the other end of the connection or, if that is a trusted proxy, the last address in X-Forwarded-For that is not one.
 * Addresses to the left of it come from the client, which can write any address there.
 */
export function addressBehind(proxies: BlockList, peer: string, forwardedFor: string | string[] | undefined): string {
  const hops = String(forwardedFor ?? "").split(",");
  let address = withoutMapping(peer);
  while (isIP(address) !== 0 && proxies.check(address, familyOf(address))) {
    const hop = withoutMapping(hops.pop()?.trim() ?? "");
    if (isIP(hop) === 0) return address;
    address = hop;
  }
  return address;
}

export interface Network {
  readonly address: string;
  /** Number of leading bits that all addresses of the network share. */
  readonly prefix: number;
}

export function proxyList(networks: readonly Network[]): BlockList {
  const proxies = new BlockList();
  for (const { address, prefix } of networks) proxies.addSubnet(address, prefix, familyOf(address));
  return proxies;
}

function proxiesOfLab(): BlockList {
  return processSingleton("trusted-proxies", () => proxyList(env().TRUSTED_PROXIES));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIPv4(address) ? "ipv4" : "ipv6";
}

/** A socket that accepts both families shows an IPv4 address as ::ffff:192.0.2.1. */
function withoutMapping(address: string): string {
  const mapped = address.replace(/^::ffff:/i, "");
  return isIPv4(mapped) ? mapped : address;
}
