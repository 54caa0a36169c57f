/** How the lab finds, probes and starts a server. Each kind's `provision.ts` exports a `provisioner`. */

/** A process that the lab starts. */
export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logFile: string;
  /** Runs as another user. Only root may do that. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Requests an orderly end; SIGTERM by default. */
  readonly stopSignal?: NodeJS.Signals;
  /** Time for an orderly end before SIGKILL. */
  readonly stopTimeoutMs?: number;
  /** True: it is not restarted when it exits. */
  readonly staysDown?: true;
  readonly readyTimeoutMs: number;
  /** True once the process serves requests. */
  readonly isReady: () => Promise<boolean>;
}

/** The program that this machine has for a server. */
export interface FoundServer {
  readonly binary: string;
  readonly version: string;
  /** Where it came from, if that is worth reporting: "npm package". */
  readonly origin?: string;
}

export interface StartContext {
  /** A folder for this server only, kept between starts. */
  readonly dataDir: string;
  readonly logsDir: string;
  /** The planned port, by its name in the kind's description. */
  port(name: string): number;
  /** Starts a process that belongs to the lab, and waits until it is ready. */
  start(spec: ProcessSpec): Promise<void>;
}

export interface Provisioner {
  /** The program to start; null if this machine has none. */
  find(): Promise<FoundServer | null>;
  /**
   * Asks a configured server for its version.
   * @throws Error if it does not answer as such a server within 5 s
   */
  probe(address: string): Promise<string>;
  /** Starts the server. @returns the value of the kind's variable */
  start(context: StartContext, found: FoundServer): Promise<string>;
}

export const PROBE_TIMEOUT_MS = 5_000;
export const READY_TIMEOUT_MS = 30_000;

/** The environment for a server: what the system needs, without the lab's settings. */
export function serverEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR, TZ, JAVA_HOME } = process.env;
  return { PATH, HOME, TMPDIR, TZ, JAVA_HOME, LANG: "C.UTF-8", ...extra };
}

/** Loads a kind's `provision.ts`. @throws Error if the file does not export a `provisioner` */
export async function loadProvisioner(id: string): Promise<Provisioner> {
  const { provisioner } = (await import(`./${id}/provision.ts`)) as { provisioner?: Provisioner };
  if (provisioner) return provisioner;
  throw new Error(`servers/${id}/provision.ts does not export \`provisioner\``);
}
