import type { ServiceId } from "../../lib/locks/types";
import type { ProcessSpec } from "../supervisor/owned-process";
import type { PlannedPort, PortName } from "./ports";

/** One kind of server the lab can use, whether somebody gives it or the lab starts it. One file each, beside this one. */

/** What is on this machine to start such a server with. */
export interface FoundServer {
  readonly binary: string;
  readonly version: string;
  /** Where it came from, when that is worth saying, for example "npm package". */
  readonly origin?: string;
}

export interface StartContext {
  /** A folder of this server's own, kept between starts. */
  readonly dataDir: string;
  readonly logsDir: string;
  port(name: PortName): PlannedPort;
  /** Starts a process that belongs to the lab, and waits until it is ready. */
  start(spec: ProcessSpec): Promise<void>;
}

export interface ServerKind {
  readonly service: ServiceId;
  readonly title: string;
  /** The variable that gives such a server, and that tells the store nodes where it is. */
  readonly envName: string;
  readonly ports: readonly PortName[];
  readonly packages: { readonly debian: readonly string[]; readonly brew: string };
  /** What this machine has; null when there is nothing to start. */
  find(): Promise<FoundServer | null>;
  /**
   * Asks a given server for its version.
   * @throws Error when it does not answer as such a server within 5 s
   */
  probe(given: string): Promise<string>;
  /** Starts it. @returns the value of `envName` */
  start(context: StartContext, found: FoundServer): Promise<string>;
}

export const PROBE_TIMEOUT_MS = 5_000;
export const READY_TIMEOUT_MS = 30_000;

/** The environment for a server: what the system needs, and none of the lab's own settings. */
export function serverEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, TZ, JAVA_HOME } = process.env;
  return { PATH, HOME, TMPDIR, TZ, JAVA_HOME, LANG: "C.UTF-8", ...extra };
}
