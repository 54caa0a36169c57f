import { isIP } from "node:net";
import { env } from "../services/current-env";
import { processSingleton } from "../services/singleton";
import { HttpError } from "./errors";

/**
 * Rejects host names that are not this lab's. A page of another site can resolve its own name to this machine (DNS
 * rebinding) and would then have the lab's origin, but its requests still carry that name. An IP address cannot be rebound.
 * @throws HttpError `host_not_allowed`
 */
export function guardHost(hostHeader: string | undefined): void {
  if (hostHeader !== undefined && hostHeader === lastAllowed) return;
  const name = nameOf(hostHeader ?? "");
  if (name !== null && (isLocal(name) || allowedNames().has(name))) {
    lastAllowed = hostHeader;
    return;
  }
  const shown = (hostHeader ?? "").replace(/[^\x21-\x7e]/g, "?").slice(0, 100);
  throw new HttpError({
    code: "host_not_allowed",
    message: `host: "${shown}" is not a name of this lab. To allow it, add it to LAB_HOSTS.`,
    details: { field: "host" },
    headers: { connection: "close" },
  });
}

/** A load generator sends the same header with every request. */
let lastAllowed: string | undefined;

/** @returns the host name in lower case, without port and brackets, or null if it is not a host name */
function nameOf(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?$/i.exec(host);
  return match ? (match[1] ?? match[2] ?? "").toLowerCase().replace(/\.$/, "") : null;
}

function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}

/** Includes the nodes' names: in containers a node's name is its host name. */
function allowedNames(): ReadonlySet<string> {
  return processSingleton("host-names", () => {
    const { HOST, STORE_NODE, STORE_NODES, LAB_HOSTS } = env();
    const nodes = STORE_NODES.map(({ url }) => new URL(url).hostname);
    return new Set([HOST, STORE_NODE, ...nodes, ...LAB_HOSTS].map((name) => name.toLowerCase()));
  });
}
