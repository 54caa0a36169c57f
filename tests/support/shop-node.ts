import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { ReconcileAnswer } from "../../lib/shop/api";
import type { ExpiryRound } from "../../lib/shop/expiry";
import { freePort } from "./free-port";
import { testProgram } from "./test-program";
import { waitUntil } from "./wait-until";

/** Tasks for a shop node in addition to serving. It answers each with its result. */
export type ShopTask =
  | {
      readonly do: "expire";
      readonly nowEpochMs: number;
      /** Stops permanently before it ends the batch with this index. */
      readonly stopAtBatch?: number;
    }
  /** Stops permanently before it returns units to a counter that PostgreSQL has already got back. */
  | { readonly do: "stop before the counter" }
  /** Stops permanently after it took units from a counter and before it creates the order. */
  | { readonly do: "stop before the order" }
  | { readonly do: "pay" | "cancel"; readonly orders: readonly { orderId: string; buyerId: string }[] }
  | { readonly do: "reconcile" }
  | { readonly do: "drift"; readonly productId: number };

export type ShopNodeMessage =
  | { readonly type: "ready"; readonly port: number }
  | { readonly type: "standing still" }
  | { readonly type: "done"; readonly result: unknown }
  | { readonly type: "failed"; readonly message: string };

export interface ShopNodeOptions {
  readonly name: string;
  readonly strategy: string;
  /** Default: a free port. */
  readonly port?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** True: it starts again when it ends without a call of `kill`, as under the lab's supervisor. */
  readonly isSupervised?: boolean;
}

/** A store node in a separate process without pages: the hot routes, the control routes and the maintenance of `server.ts`. */
export class ShopNode implements AsyncDisposable {
  readonly #options: ShopNodeOptions;
  readonly #port: number;
  #child: ChildProcess | null = null;
  #messages: ShopNodeMessage[] = [];
  #restart: Promise<void> = Promise.resolve();

  private constructor(options: ShopNodeOptions, port: number) {
    this.#options = options;
    this.#port = port;
  }

  static async start(options: ShopNodeOptions): Promise<ShopNode> {
    const node = new ShopNode(options, options.port ?? (await freePort()));
    await node.start();
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get isUp(): boolean {
    return this.#child !== null;
  }

  async switchStrategy(id: string): Promise<void> {
    const response = await fetch(`${this.url}/api/node/strategy`, {
      method: "PUT",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id }),
    });
    if (!response.ok) throw new Error(`${this.#options.name}: ${await response.text()}`);
  }

  /** Starts or restarts it on the same port with the same name. */
  async start(): Promise<void> {
    const { name, strategy, env = {} } = this.#options;
    const { file, execArgv } = testProgram("tests/support/shop-node-main.ts");
    const settings = {
      STORE_NODE: name,
      LOCK_STRATEGY: strategy,
      PORT: String(this.#port),
      SHOP_MAINTENANCE_EVERY_MS: "0",
    };
    this.#messages = [];
    const child = fork(file, { execArgv: [...execArgv], env: { ...process.env, ...settings, ...env } });
    this.#child = child;
    child.on("message", (message) => this.#messages.push(message as ShopNodeMessage));
    child.on("exit", (code, signal) => {
      if (this.#options.isSupervised && this.#child === child) this.#restart = this.start();
      else this.#messages.push({ type: "failed", message: `${name} exited with ${code ?? signal}` });
    });
    await this.#next("ready");
  }

  async #next(type: ShopNodeMessage["type"]): Promise<ShopNodeMessage> {
    const found = () => this.#messages.find((message) => message.type === type || message.type === "failed");
    await waitUntil(() => found() !== undefined, { what: `${this.#options.name}: ${type}`, withinMs: 60_000 });
    const message = found() as ShopNodeMessage;
    this.#messages = this.#messages.filter((each) => each !== message);
    if (message.type === "failed") throw new Error(message.message);
    return message;
  }

  async ask(task: ShopTask): Promise<unknown> {
    this.#child?.send(task);
    const answer = await this.#next("done");
    return answer.type === "done" ? answer.result : undefined;
  }

  expire(nowEpochMs: number): Promise<ExpiryRound> {
    return this.ask({ do: "expire", nowEpochMs }) as Promise<ExpiryRound>;
  }

  reconcile(): Promise<ReconcileAnswer> {
    return this.ask({ do: "reconcile" }) as Promise<ReconcileAnswer>;
  }

  /** Sends a task that the node does not finish, and waits until the node has stopped in the middle of it. */
  async askInVain(task: ShopTask): Promise<void> {
    this.#child?.send(task);
    await this.standsStill();
  }

  async standsStill(): Promise<void> {
    await this.#next("standing still");
  }

  /** Sends SIGKILL, so work in progress stays incomplete. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#restart;
    await this.kill();
  }
}

/** Several concurrent purchases, without admission limits. */
export async function startShopNodes(
  names: readonly string[],
  strategy: string,
  { env: settings = {}, isSupervised = false }: Pick<ShopNodeOptions, "env" | "isSupervised"> = {},
): Promise<readonly ShopNode[]> {
  const env = { BUYER_RATE_PER_SECOND: "0", ...settings };
  const started = await Promise.allSettled(names.map((name) => ShopNode.start({ name, strategy, env, isSupervised })));
  const nodes = started.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const failure = started.find((each) => each.status === "rejected");
  if (!failure) return nodes;
  await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
  throw failure.reason;
}

export interface ShopAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: {
    readonly order?: { readonly id: string; readonly status?: string };
    readonly error?: { code: string };
  };
}

/** One purchase. @throws TypeError if the node does not answer */
export async function buyAt(
  url: string,
  target: { readonly productId: number } | { readonly couponId: number },
  { key, ...body }: { readonly userId: string; readonly quantity?: number; purchaseToken?: string; key?: string },
): Promise<ShopAnswer> {
  const path =
    "productId" in target ? `/api/products/${target.productId}/reduce-stock` : `/api/coupons/${target.couponId}/claim`;
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  const { status, headers } = response;
  return { status, headers, body: (await response.json()) as ShopAnswer["body"] };
}
