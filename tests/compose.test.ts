import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { z } from "zod";
import { programArgs, programFile } from "../bin/build/programs";
import { K6_VERSION } from "../bin/k6/find";
import { ROOT } from "../bin/supervisor/paths";
import { DASHBOARD, STORE_NODE_NAMES } from "../bin/supervisor/store-nodes";
import { proxyList } from "../lib/http/client-address";
import { ENV_NAMES, type Env, parseEnv } from "../lib/services/env";
import { readSettings } from "../load-tests/lib/settings.js";
import { serverKinds } from "../servers/all-servers";
import { endpointsOf } from "../servers/server-kind";

/** Compares the container files with the code that reads their settings; needs no container engine. */

const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

const serviceSchema = z.object({
  image: z.string(),
  environment: z.record(z.string(), z.string()).default({}),
  ports: z.array(z.string()).default([]),
  restart: z.string(),
  healthcheck: z.object({ test: z.array(z.string()).min(2) }).optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
  command: z.array(z.string()).optional(),
  networks: z.record(z.string(), z.object({ ipv4_address: z.string() })).default({}),
});
type Service = z.infer<typeof serviceSchema>;

const networkSchema = z.object({
  ipam: z.object({ config: z.array(z.object({ subnet: z.string(), ip_range: z.string() })).length(1) }),
});

const { services, networks } = z
  .object({ services: z.record(z.string(), serviceSchema), networks: z.record(z.string(), networkSchema) })
  .parse(parse(read("docker-compose.yml"), { merge: true }));

const nginx = read("deploy/nginx.conf");
const labServices = Object.entries(services).filter(([, { environment }]) => environment.STORE_NODE !== undefined);
const storeServices = labServices.filter(([, { environment }]) => environment.STORE_NODE !== DASHBOARD);

/** Replaces `${NAME:-default}` by the default, as compose does if the variable is not set. */
function environmentOf(service: Service): Record<string, string> {
  const fill = (text: string) => text.replace(/\$\{[A-Z_0-9]+:-([^}]*)\}/g, "$1");
  return Object.fromEntries(Object.entries(service.environment).map(([name, value]) => [name, fill(value)]));
}

/** Variables of Node.js and Next. */
const NOT_OURS = ["NODE_ENV"];

function hostsOf(parsed: Env): string[] {
  const values = new Map<string, unknown>(Object.entries(parsed));
  return serverKinds.flatMap((kind) =>
    endpointsOf(kind, String(values.get(kind.variable) ?? "")).map(({ host }) => host),
  );
}

describe("docker-compose.yml", () => {
  it("has the dashboard and store nodes of `npm start`", () => {
    assert.deepEqual(labServices.map(([name]) => name).sort(), [DASHBOARD, ...STORE_NODE_NAMES].sort());
    for (const [name, service] of labServices) assert.equal(service.environment.STORE_NODE, name);
  });

  for (const [name, service] of labServices) {
    it(`sets only variables of lib/services/env.ts, to valid values (${name})`, () => {
      const environment = environmentOf(service);
      const parsed = parseEnv(environment);
      const known = new Set<string>([...ENV_NAMES, ...NOT_OURS]);
      const unknown = Object.keys(environment).filter((key) => !known.has(key));
      assert.deepEqual(unknown, []);
      assert.equal(parsed.HOST, "0.0.0.0", "a container must accept requests from outside its loopback interface");
    });

    it(`sets or forwards every variable of lib/services/env.ts (${name})`, () => {
      const missing = ENV_NAMES.filter((key) => service.environment[key] === undefined);
      assert.deepEqual(missing, [], "a variable that the user sets would have no effect in the containers");
    });

    it(`uses only servers that are services, and waits for them (${name})`, () => {
      const hosts = hostsOf(parseEnv(environmentOf(service)));
      for (const host of hosts) {
        assert.ok(services[host], `${host} is not a service`);
        if (host !== "postgres") assert.equal(service.depends_on[host]?.condition, "service_healthy", host);
      }
      // The migrations wait for PostgreSQL.
      assert.equal(service.depends_on.migrate?.condition, "service_completed_successfully");
    });

    it(`lists the same store nodes for every process, at the ports where they listen (${name})`, () => {
      const listed = parseEnv(environmentOf(service)).STORE_NODES;
      const expected = storeServices.map(([node, { environment }]) => ({
        name: node,
        url: `http://${node}:${environment.PORT}`,
      }));
      assert.deepEqual(listed, expected);
    });
  }

  it("has five separate servers for Redlock", () => {
    const [, first] = labServices[0] ?? assert.fail("expected a service with STORE_NODE");
    const urls = (parseEnv(environmentOf(first)).REDLOCK_URLS ?? "").split(",");
    assert.equal(urls.length, 5);
    assert.equal(new Set(urls.map((url) => new URL(url).hostname)).size, 5);
    assert.ok(!urls.some((url) => new URL(url).hostname === "redis"));
  });

  it("migrates the database of the store nodes", () => {
    const [, first] = labServices[0] ?? assert.fail("expected a service with STORE_NODE");
    assert.equal(services.migrate?.environment.DATABASE_URL, first.environment.DATABASE_URL);
    const script = services.migrate?.command?.at(-1) ?? "";
    assert.equal(script, programFile(".next", "migrate"));
  });

  for (const [name, service] of Object.entries(services)) {
    it(`pins the version of its image (${name})`, () => {
      const tag = service.image.split(":").at(-1) ?? "";
      assert.match(tag, /^v?\d+\.\d+(\.\d+)?(-[a-z]+)?$/, service.image);
    });

    it(`has a health check, or is a one-shot service (${name})`, () => {
      const isLongRunning = service.restart === "unless-stopped";
      assert.equal(service.healthcheck !== undefined, isLongRunning);
    });

    it(`publishes ports only on the loopback interface (${name})`, () => {
      for (const port of service.ports) assert.match(port, /^127\.0\.0\.1:/);
    });
  }

  it("publishes only nginx", () => {
    const published = Object.entries(services).filter(([, { ports }]) => ports.length > 0);
    assert.deepEqual(
      published.map(([name]) => name),
      ["nginx"],
    );
  });

  it("gives nginx a fixed address, which is the only proxy that the lab trusts", () => {
    const [network] = networks.default?.ipam.config ?? [];
    const address = services.nginx?.networks.default?.ipv4_address ?? assert.fail("expected an address of nginx");
    const contains = (cidr = "") => {
      const [start = "", prefix = ""] = cidr.split("/");
      return proxyList([{ address: start, prefix: Number(prefix) }]).check(address);
    };
    assert.ok(contains(network?.subnet), "the address must be in the network");
    assert.ok(!contains(network?.ip_range), "no other container may get the address");
    for (const [, service] of labServices) {
      assert.deepEqual(parseEnv(environmentOf(service)).TRUSTED_PROXIES, [{ address, prefix: 32 }]);
    }
  });

  it("configures k6 with settings that its script reads", () => {
    const given = environmentOf(services.k6 ?? assert.fail("no k6 service"));
    const asked = new Set<string>();
    const watched = new Proxy(given, {
      get: (env, name: string) => {
        asked.add(name);
        return env[name];
      },
    });
    const settings = readSettings(watched);
    assert.deepEqual(
      Object.keys(given).filter((name) => !asked.has(name)),
      [],
    );
    assert.equal(settings.baseUrl, `http://${DASHBOARD}:${services[DASHBOARD]?.environment.PORT}`);
  });

  it("uses the k6 version of the lab in the k6 service and in the image", () => {
    assert.equal(services.k6?.image, `grafana/k6:${K6_VERSION}`);
    assert.ok(read("Dockerfile").includes(`FROM grafana/k6:${K6_VERSION} AS k6`));
  });
});

describe("deploy/nginx.conf", () => {
  const upstream = (name: string) => {
    const block = new RegExp(`upstream ${name} \\{([^}]*)\\}`).exec(nginx)?.[1] ?? "";
    return [...block.matchAll(/server ([a-z0-9-]+):(\d+);/g)].map(([, host, port]) => `${host}:${port}`);
  };

  it("sends sales to every store node and other requests to the dashboard", () => {
    const expected = storeServices.map(([name, { environment }]) => `${name}:${environment.PORT}`);
    assert.deepEqual(upstream("store_nodes"), expected);
    assert.deepEqual(upstream("dashboard"), [`dashboard:${services.dashboard?.environment.PORT}`]);
  });

  it("does not buffer server-sent events", () => {
    const block = /location ~ \^\/api\/runs\/\[\^\/\]\+\/events\$ \{([^}]*)\}/.exec(nginx)?.[1] ?? "";
    assert.match(block, /proxy_buffering off;/);
  });

  it("appends the client's address for the lab, which trusts nginx", () => {
    assert.match(nginx, /proxy_set_header X-Forwarded-For \$proxy_add_x_forwarded_for;/);
  });

  it("never retries a purchase on another node", () => {
    assert.match(nginx, /proxy_next_upstream off;/);
  });
});

describe("Dockerfile", () => {
  const dockerfile = read("Dockerfile");

  it("pins its images and does not run as root", () => {
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map((match) => match[1] ?? "");
    assert.ok(bases.length >= 3);
    for (const base of bases) assert.match(base, /:\d+\.\d+\.\d+(-[a-z-]+)?$/);
    const lastUser = dockerfile.match(/^USER (\S+)$/gm)?.at(-1);
    assert.equal(lastUser, "USER node");
  });

  it("starts the bundled server, without a TypeScript loader", () => {
    const command = /^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? assert.fail("no CMD");
    assert.deepEqual(JSON.parse(command), ["node", ...programArgs(".next", "server")]);
  });
});
