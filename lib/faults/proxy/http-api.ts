import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { ProxyCollection } from "./proxy-collection";
import type { ProxyDependencies } from "./stage";
import {
  changedToxicOf,
  newToxicOf,
  parsed,
  proxyInput,
  proxyJson,
  proxyListInput,
  proxyPatch,
  toxicJson,
} from "./toxic-json";
import { badRequest, missingField, ToxiproxyError } from "./toxiproxy-error";

/** The version of Toxiproxy whose API this is. */
export const API_VERSION = "2.5.0";
const MAX_BODY_BYTES = 1_000_000;

interface Answer {
  readonly status: number;
  readonly body?: unknown;
}

interface Call {
  readonly proxies: ProxyCollection;
  readonly body: unknown;
  /** The names in the path: of the proxy, of the toxic. */
  readonly names: readonly string[];
}

type Handler = (call: Call) => Answer | Promise<Answer>;

const ok = (body: unknown): Answer => ({ status: 200, body });
const done: Answer = { status: 204 };

const handlers: Readonly<Record<string, Handler>> = {
  "GET /version": () => ok(API_VERSION),
  "GET /proxies": ({ proxies }) => ok(Object.fromEntries(proxies.all().map((proxy) => [proxy.name, proxyJson(proxy)]))),
  "POST /proxies": async ({ proxies, body }) => {
    const settings = parsed(proxyInput, body);
    if (settings.name === "") throw missingField("name");
    if (settings.upstream === "") throw missingField("upstream");
    return { status: 201, body: proxyJson(await proxies.add(settings)) };
  },
  "POST /populate": async ({ proxies, body }) => {
    const list = parsed(proxyListInput, body);
    for (const [index, { name, upstream }] of list.entries()) {
      if (name === "") throw missingField(`name at proxy ${index + 1}`);
      if (upstream === "") throw missingField(`upstream at proxy ${index + 1}`);
    }
    const added = [];
    for (const settings of list) added.push(proxyJson(await proxies.addOrReplace(settings)));
    return { status: 201, body: { proxies: added } };
  },
  "POST /reset": async ({ proxies }) => {
    for (const proxy of proxies.all()) {
      await proxy.start();
      for (const toxic of proxy.toxics) proxy.removeToxic(toxic);
    }
    return done;
  },
  "GET /proxies/*": ({ proxies, names: [name = ""] }) => ok(proxyJson(proxies.get(name))),
  "POST /proxies/*": update,
  "PATCH /proxies/*": update,
  "DELETE /proxies/*": async ({ proxies, names: [name = ""] }) => {
    await proxies.remove(name);
    return done;
  },
  "GET /proxies/*/toxics": ({ proxies, names: [name = ""] }) => ok(proxies.get(name).toxics.map(toxicJson)),
  "POST /proxies/*/toxics": ({ proxies, body, names: [name = ""] }) => {
    const proxy = proxies.get(name);
    return ok(toxicJson(proxy.addToxic(newToxicOf(body, proxy))));
  },
  "GET /proxies/*/toxics/*": (call) => ok(toxicJson(toxicOf(call).toxic)),
  "POST /proxies/*/toxics/*": updateToxic,
  "PATCH /proxies/*/toxics/*": updateToxic,
  "DELETE /proxies/*/toxics/*": (call) => {
    const { proxy, toxic } = toxicOf(call);
    proxy.removeToxic(toxic);
    return done;
  },
};

async function update({ proxies, body, names: [name = ""] }: Call): Promise<Answer> {
  const { listen, upstream, enabled } = proxies.get(name);
  return ok(proxyJson(await proxies.update(name, { listen, upstream, enabled, ...parsed(proxyPatch, body) })));
}

function updateToxic(call: Call): Answer {
  const { proxy, toxic } = toxicOf(call);
  proxy.updateToxic(toxic, changedToxicOf(call.body, toxic));
  return ok(toxicJson(toxic));
}

function toxicOf({ proxies, names: [proxyName = "", toxicName = ""] }: Call) {
  const proxy = proxies.get(proxyName);
  const toxic = proxy.toxic(toxicName);
  if (!toxic) throw new ToxiproxyError(404, "toxic not found");
  return { proxy, toxic };
}

export interface ToxiproxyApi extends AsyncDisposable {
  readonly port: number;
}

/** Serves the HTTP API of Toxiproxy for its own proxies. Disposal closes the API, the proxies and their connections. */
export async function serveToxiproxyApi(
  address: { readonly host: string; readonly port: number },
  dependencies: ProxyDependencies,
): Promise<ToxiproxyApi> {
  const proxies = new ProxyCollection(dependencies);
  const server = createServer((request, response) => void answer(proxies, request, response));
  await listen(server, address);
  const bound = server.address();
  return {
    port: typeof bound === "object" && bound !== null ? bound.port : address.port,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.all([closed, proxies.close()]);
    },
  };
}

function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

async function answer(proxies: ProxyCollection, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, body } = await handle(proxies, request).catch((error: Error): Answer => {
    const code = error instanceof ToxiproxyError ? error.status : 500;
    return { status: code, body: { error: error.message, status: code } };
  });
  if (body === undefined) response.writeHead(status).end();
  else if (typeof body === "string") {
    response.writeHead(status, { "content-type": "text/plain;charset=utf-8" }).end(body);
  } else response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function handle(proxies: ProxyCollection, request: IncomingMessage): Promise<Answer> {
  // A page of another site must not control the proxies. Browsers can send such requests without asking first.
  if (request.headers["user-agent"]?.startsWith("Mozilla/")) throw new ToxiproxyError(403, "User agent not allowed");
  const parts = (request.url ?? "/").split("?")[0]?.split("/").filter(Boolean).map(decodeURIComponent) ?? [];
  const pattern = parts.map((part, index) => (index % 2 === 1 ? "*" : part)).join("/");
  const handler = handlers[`${request.method} /${pattern}`];
  if (!handler) throw new ToxiproxyError(404, "404 page not found");
  const names = parts.filter((_, index) => index % 2 === 1);
  return handler({ proxies, names, body: request.method === "GET" ? undefined : await bodyOf(request) });
}

/** @throws ToxiproxyError */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw badRequest(`more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}
