import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findCurator, findJavaWithCompiler, findPythonWithLocks } from "../../bin/testing/lock-programs";
import { ensureOtherClients } from "../../bin/testing/other-clients";
import { parseHostPort } from "../../servers/text-protocol";

/** One hold as its client observed it: times of the host's monotonic clock, and the counter on entry and exit. */
export interface WitnessedHold {
  readonly side: string;
  readonly fromNs: bigint;
  readonly toNs: bigint;
  readonly entered: number;
  readonly left: number;
}

export interface ContentionOrder {
  /** Key in Redis, path in ZooKeeper, or prefix of the keys in etcd. */
  readonly lockName: string;
  readonly witnessKey: string;
  readonly redisUrl: string;
  readonly zookeeperHosts: string;
  readonly etcdUrl: string;
  /** Threads that contend for the lock. */
  readonly callers: number;
  readonly holdMs: number;
  /** Maximum random pause between two holds. */
  readonly longestPauseMs: number;
  readonly ttlMs: number;
}

type Message =
  | { readonly type: "ready" | "done" }
  | { readonly type: "failed"; readonly message: string }
  | {
      readonly type: "hold";
      readonly fromNs: string;
      readonly toNs: string;
      readonly entered: number;
      readonly left: number;
    };

export type OtherClientName = "redis-py" | "kazoo" | "kazoo-curator-names" | "curator" | "etcd-go";

/** The program and its arguments. */
export type Command = readonly [program: string, ...args: string[]];

/** How to start a client for an order. */
export type Launch = (name: OtherClientName, order: ContentionOrder) => Promise<Command>;

/**
 * Starts the clients in Python and Java. Installs what is missing, for tests that are started by hand; `npm test` does
 * it before.
 */
export const launchInstalled: Launch = async (name, order) => {
  await ensureOtherClients();
  const [python, java] = await Promise.all([findPythonWithLocks(), findJavaWithCompiler()]);
  const curator = findCurator();
  assert.ok(python && java && curator);
  console.log(`against ${python.versions}, ${curator.versions}, ${java.versions}`);
  if (name === "curator") return curatorCommand(order, java.binary, curator.classPath);
  return [python.binary, clientProgram("contend.py"), JSON.stringify({ client: name, ...order })];
};

/** A client of another project in a separate process. It acquires the lock repeatedly until it is stopped. */
export class OtherClient implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly holds: WitnessedHold[] = [];
  readonly failures: string[] = [];
  isReady = false;
  isDone = false;

  constructor(
    readonly name: OtherClientName,
    [command, ...args]: Command,
  ) {
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    let stderrTail = "";
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      stderrTail = (stderrTail + chunk).slice(-2_000);
    });
    // If the pipe breaks, the exit event reports the cause.
    this.#child.stdin?.on("error", () => {});
    this.#child.once("error", (error) => this.failures.push(error.message));
    this.#child.once("close", (code, signal) => {
      if (!this.isDone) this.failures.push(`${name} exited with ${code ?? signal}: ${stderrTail}`);
    });
    if (this.#child.stdout) createInterface({ input: this.#child.stdout }).on("line", (line) => this.#receive(line));
  }

  go(): void {
    this.#child.stdin?.write("go\n");
  }

  stop(): void {
    this.#child.stdin?.write("stop\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exit;
  }

  #receive(line: string): void {
    const message = JSON.parse(line) as Message;
    switch (message.type) {
      case "ready":
        this.isReady = true;
        break;
      case "done":
        this.isDone = true;
        break;
      case "failed":
        this.failures.push(message.message);
        break;
      case "hold": {
        const { fromNs, toNs, entered, left } = message;
        this.holds.push({ side: this.name, fromNs: BigInt(fromNs), toNs: BigInt(toNs), entered, left });
      }
    }
  }
}

/** A file or folder in `tests/interop/clients`. */
export const clientProgram = (name: string) => fileURLToPath(new URL(`./clients/${name}`, import.meta.url));

function curatorCommand(order: ContentionOrder, java: string, classPath: string): Command {
  const { host, port } = parseHostPort(order.redisUrl, 6_379);
  const jvm = [
    "-Xmx128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
  ];
  const args = [order.zookeeperHosts, order.lockName, host, String(port), order.witnessKey];
  const counts = [String(order.callers), String(order.holdMs), String(order.longestPauseMs)];
  return [java, ...jvm, "-cp", classPath, clientProgram("Contend.java"), ...args, ...counts];
}
