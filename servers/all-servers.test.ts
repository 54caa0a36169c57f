import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { stockStrategies } from "../lib/stock/stock-strategies";
import { type ServerId, serverKind, serverKinds, servers } from "./all-servers";
import { familyLabel } from "./families";
import { loadProvisioner } from "./provisioning";
import { endpointsOf } from "./server-kind";

const folders = readdirSync(fileURLToPath(new URL(".", import.meta.url)), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

describe("server kinds", () => {
  it("have a folder each, named by their id, that exports a provisioner", async () => {
    assert.deepEqual(folders.sort(), serverKinds.map(({ id }) => id).sort());
    for (const [key, { id }] of Object.entries(servers)) {
      assert.equal(key, id);
      assert.equal(typeof (await loadProvisioner(id)).start, "function", `servers/${id}/provision.ts`);
    }
  });

  it("share no variable, port or offset", () => {
    const variables = serverKinds.map(({ variable }) => variable);
    assert.equal(new Set(variables).size, variables.length);
    const ports = serverKinds.flatMap((kind) => Object.values(kind.ports));
    assert.equal(new Set(ports.map(({ port }) => port)).size, ports.length);
    assert.equal(new Set(ports.map(({ offset }) => offset)).size, ports.length);
  });

  it("include every server and family that a strategy names", () => {
    for (const { traits } of stockStrategies.values()) {
      for (const id of traits.needs) assert.equal(serverKind(id).id, id, `${traits.id} needs ${id}`);
      assert.notEqual(familyLabel(traits.family), "", traits.id);
    }
  });

  for (const kind of serverKinds) {
    it(`write an address that reads back as the same endpoints (${kind.id})`, () => {
      const endpoints = [{ host: "127.0.0.1", port: 20_001 }];
      const address = kind.addressAt(endpoints, "postgresql://lab@db:5432/shop");
      assert.deepEqual(endpointsOf(kind, address), endpoints);
    });
  }

  it("refuse an unknown id with the valid ones", () => {
    assert.throws(() => serverKind("nats"), /"nats" is no server kind; valid ids: postgres, redis/);
    assert.throws(() => familyLabel("nats"), /valid ids: baseline, sql, redis/);
  });
});

describe("the endpoints of an address", () => {
  const cases: [ServerId, string, string[]][] = [
    ["postgres", "postgresql://lab:secret@127.0.0.1:15432/flash_sale_lab", ["127.0.0.1:15432"]],
    ["postgres", "postgresql://lab@db/shop", ["db:5432"]],
    ["redis", "redis://cache", ["cache:6379"]],
    ["redlock", "redis://a, redis://b:1", ["a:6379", "b:1"]],
    ["memcached", "127.0.0.1:11311", ["127.0.0.1:11311"]],
    ["memcached", "memcached://127.0.0.1:11311", ["127.0.0.1:11311"]],
    ["zookeeper", "a:2181,b:2182", ["a:2181", "b:2182"]],
    ["etcd", "http://[::1]:2379", ["::1:2379"]],
    ["redis", "not a url at all", []],
  ];
  for (const [id, text, expected] of cases) {
    it(`are read from ${text}`, () => {
      const read = endpointsOf(serverKind(id), text).map(({ host, port }) => `${host}:${port}`);
      assert.deepEqual(read, expected);
    });
  }
});
