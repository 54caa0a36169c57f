import type { LockDependencies } from "../lib/locks/lock-entry";

/** A port that a started server listens on: the default, and the offset from `--port-base`. */
export interface ServerPort {
  readonly port: number;
  readonly offset: number;
}

export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** How a process opens the clients of one server kind. */
export interface Opening {
  /**
   * The configured value of the kind's variable.
   * @throws {LockError} `config_invalid` with the reason, if it is not configured
   */
  address(): string;
  /** Registers how to close what was opened. */
  onClose(close: () => Promise<void>): void;
  /** Reports that a client lost its server, and why. */
  onOutage(reason: string, endpoint: { readonly port: number | undefined }): void;
  /** Session timeout of clients that keep a session, in milliseconds; undefined: the client's default. */
  readonly sessionTimeoutMs: number | undefined;
}

/**
 * A kind of server that strategies can need. Each kind is a folder beside this file: `server.ts` (this description),
 * `provision.ts` (how the lab finds, probes and starts one), `break-hold.ts` (how the tests take a hold away), and an entry in
 * `all-servers.ts`. Environment, availability, ports, doctor, labels and lock clients follow from it.
 */
export interface ServerKind {
  /** As `traits.needs` names it. */
  readonly id: string;
  readonly label: string;
  /** What a strategy needs, where that differs from the label: "five Redis servers". */
  readonly needsLabel?: string;
  /** Label of the strategy family with the same id; absent if there is no such family. */
  readonly familyLabel?: string;
  /** The environment variable that configures it. */
  readonly variable: string;
  /** Every process stops at start without it. */
  readonly isRequired?: true;
  /** Port of an address that names none. */
  readonly defaultPort: number;
  /** A request that a server of this kind answers at once, to any client: a process that hangs still accepts connections. */
  readonly greeting: string;
  /** How many of the configured endpoints must answer the greeting. */
  readonly quorum: "one" | "majority";
  /** Ports of a server that the lab starts, by name. `LAB_PORT_<NAME>` overrides one. */
  readonly ports: Readonly<Record<string, ServerPort>>;
  readonly packages: { readonly debian: readonly string[]; readonly brew: string };
  /** The variable's value for these endpoints, with all else as in `address`. */
  addressAt(endpoints: readonly Endpoint[], address: string): string;
  /** Clients for locks, each opened at its first use. */
  lockClients?(opening: Opening): Partial<LockDependencies>;
}

/** Endpoints of `scheme://user@host:port/path`, of `host:port`, or of a comma-separated list of either. */
export function endpointsOf({ defaultPort }: Pick<ServerKind, "defaultPort">, address: string): Endpoint[] {
  return address.split(",").flatMap((part) => {
    const trimmed = part.trim();
    const url = trimmed.includes("://") ? trimmed : `tcp://${trimmed}`;
    if (trimmed === "" || !URL.canParse(url)) return [];
    const { hostname, port } = new URL(url);
    return [{ host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? defaultPort : Number(port) }];
  });
}

/** Creates the value at the first call and returns the same one afterwards. */
export function once<T>(create: () => T): () => T {
  let created: { readonly value: T } | null = null;
  return () => {
    created ??= { value: create() };
    return created.value;
  };
}
