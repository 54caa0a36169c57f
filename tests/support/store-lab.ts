import { freePort } from "./free-port";
import { ShopNode, type ShopNodeOptions } from "./shop-node";

/** Store nodes and a dashboard in separate processes, without pages and on the database of the test. */
export interface StoreLab extends AsyncDisposable {
  readonly nodes: readonly ShopNode[];
  readonly dashboard: ShopNode;
}

export async function startStoreLab(
  names: readonly string[],
  settings: Readonly<Record<string, string>> = {},
  { isSupervised = false }: Pick<ShopNodeOptions, "isSupervised"> = {},
): Promise<StoreLab> {
  const places = await Promise.all(names.map(async (name) => ({ name, port: await freePort() })));
  const STORE_NODES = places.map(({ name, port }) => `${name}=http://127.0.0.1:${port}`).join(",");
  const env = { BUYER_RATE_PER_SECOND: "0", ...settings, STORE_NODES };
  const start = (name: string, port: number) =>
    ShopNode.start({ name, port, strategy: "sql-guarded", env, isSupervised: isSupervised && name !== "dashboard" });
  const nodes = await Promise.all(places.map(({ name, port }) => start(name, port)));
  const dashboard = await start("dashboard", await freePort());
  return {
    nodes,
    dashboard,
    async [Symbol.asyncDispose]() {
      await Promise.all([...nodes, dashboard].map((node) => node[Symbol.asyncDispose]()));
    },
  };
}

export interface ApiAnswer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body & {
    readonly error?: { readonly code: string; readonly message: string; readonly details?: unknown };
  };
}

export async function post<Body>(
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<ApiAnswer<Body>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as ApiAnswer<Body>["body"],
  };
}
