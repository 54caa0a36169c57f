import { isIP } from "node:net";
import { env } from "../services/current-env";
import { processSingleton } from "../services/singleton";
import { HttpError } from "./errors";

/**
 * Refuses names that are not this lab's. A page of another site can point its own name at this machine (DNS rebinding) and
 * would then be of the same origin as the lab; the Host header still says that name. An address cannot be rebound.
 * @throws HttpError 421 `host_not_allowed`
 */
export function guardHost(hostHeader: string | undefined): void {
  const name = nameOf(hostHeader ?? "");
  if (name !== null && (isAlwaysOurs(name) || ourNames().has(name))) return;
  const shown = (hostHeader ?? "").replace(/[^\x21-\x7e]/g, "?").slice(0, 100);
  throw new HttpError({
    status: 421,
    code: "host_not_allowed",
    message: `host: "${shown}" is not a name of this lab; LAB_HOSTS adds names.`,
    details: { field: "host" },
    headers: { connection: "close" },
  });
}

/** Host name without port and brackets, in lower case; null when it is none. */
function nameOf(host: string): string | null {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::[0-9]{1,5})?$/i.exec(host);
  return match ? (match[1] ?? match[2] ?? "").toLowerCase().replace(/\.$/, "") : null;
}

function isAlwaysOurs(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || isIP(name) !== 0;
}

/** Also what fellow processes call this one: in containers a node's name is its host. */
function ourNames(): ReadonlySet<string> {
  return processSingleton("host-names", () => {
    const { HOST, STORE_NODE, STORE_NODES, LAB_HOSTS } = env();
    const nodes = STORE_NODES.map(({ url }) => new URL(url).hostname);
    return new Set([HOST, STORE_NODE, ...nodes, ...LAB_HOSTS].map((name) => name.toLowerCase()));
  });
}
