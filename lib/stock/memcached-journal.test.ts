import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemcachedJournal } from "./memcached-journal";
import type { JournalEntry } from "./redis-journal";
import { FakeMemcached } from "./testing/fake-memcached";

const entryOf = (opId: string): JournalEntry => ({ opId, quantity: 1, buyerId: "buyer-1", takenAtEpochMs: 5 });
const idsOf = (entries: readonly JournalEntry[]) => entries.map(({ opId }) => opId).toSorted();
const ITEM = "journal:product:7:node-1";

function setUp() {
  const events: string[] = [];
  const client = new FakeMemcached(events);
  const journalOf = (node: string) => new MemcachedJournal(client, "product:7", node);
  return { events, client, journalOf };
}

describe("the journal in Memcached", () => {
  it("resolves when the entry is on the server, and lists the entries of all nodes", async () => {
    const { journalOf } = setUp();
    await journalOf("node-1").add(entryOf("op-1"));
    await journalOf("node-2").add(entryOf("op-2"));
    assert.deepEqual(idsOf(await journalOf("node-3").read()), ["op-1", "op-2"]);
  });

  it("keeps the entries of an earlier process of the same node", async () => {
    const { journalOf } = setUp();
    await journalOf("node-1").add(entryOf("op-1"));
    const successor = journalOf("node-1");
    await successor.add(entryOf("op-2"));
    assert.deepEqual(idsOf(await successor.read()), ["op-1", "op-2"]);
  });

  it("writes entries that arrive during a write together in the next one", async () => {
    const { client, journalOf } = setUp();
    const journal = journalOf("node-1");
    await journal.add(entryOf("op-0"));
    let writes = 0;
    client.before = (command) => {
      if (command === "set") writes += 1;
    };
    await Promise.all(["op-1", "op-2", "op-3", "op-4"].map((opId) => journal.add(entryOf(opId))));
    assert.equal(writes, 2, "expected one write for the first entry and one for the other three");
    assert.equal((await journal.read()).length, 5);
  });

  it("does not resolve an entry with the write before it", async () => {
    const { client, journalOf } = setUp();
    const journal = journalOf("node-1");
    await journal.add(entryOf("op-0"));
    const first = journal.add(entryOf("op-1"));
    await Promise.resolve();
    await journal.add(entryOf("op-2"));
    assert.match(client.value(ITEM) ?? "", /op-2/, "expected the entry on the server when add resolves");
    await first;
  });

  it("clears the server's item at once when its last entry is removed", async () => {
    const { client, journalOf } = setUp();
    const journal = journalOf("node-1");
    await journal.add(entryOf("op-1"));
    await journal.remove(["op-1"]);
    assert.equal(client.value(ITEM), "");
  });

  it("writes again after a failed write", async () => {
    const { client, journalOf } = setUp();
    const journal = journalOf("node-1");
    client.before = (command) => {
      if (command === "set") throw new Error("unreachable");
    };
    await assert.rejects(journal.add(entryOf("op-1")), /unreachable/);
    client.before = () => {};
    await journal.add(entryOf("op-2"));
    assert.deepEqual(idsOf(await journal.read()), ["op-1", "op-2"]);
  });

  it("writes entries that arrived during a write that failed", async () => {
    const { client, journalOf } = setUp();
    const journal = journalOf("node-1");
    await journal.add(entryOf("op-0"));
    let writes = 0;
    client.before = (command) => {
      if (command === "set" && writes++ === 0) throw new Error("unreachable");
    };
    const results = await Promise.allSettled(["op-1", "op-2"].map((opId) => journal.add(entryOf(opId))));
    assert.deepEqual(
      results.map(({ status }) => status),
      ["rejected", "fulfilled"],
    );
    assert.match(client.value(ITEM) ?? "", /op-2/);
  });

  it("adds a node to the index although another node joins at the same time", async () => {
    const { client, journalOf } = setUp();
    await journalOf("node-1").add(entryOf("op-1"));
    let isFirst = true;
    client.before = (command, key) => {
      if (command !== "cas" || !isFirst) return;
      isFirst = false;
      client.store({ key, value: "node-1,node-3", expirySeconds: 900 });
    };
    await journalOf("node-2").add(entryOf("op-2"));
    assert.equal(client.value("journal:product:7"), "node-1,node-3,node-2");
  });

  it("is listed again after the server lost the index, with all entries of the node", async () => {
    const { client, journalOf } = setUp();
    const journal = journalOf("node-1");
    await journal.add(entryOf("op-1"));
    client.items.clear();
    assert.deepEqual(idsOf(await journal.read()), ["op-1"], "its own entries must not depend on the server");
    client.items.clear();
    await journal.add(entryOf("op-2"));
    assert.deepEqual(idsOf(await journalOf("node-2").read()), ["op-1", "op-2"]);
  });

  it("does not add an entry if the node cannot join the index", async () => {
    const { client, journalOf } = setUp();
    await journalOf("node-2").add(entryOf("op-2"));
    let changes = 0;
    client.before = (command, key) => {
      changes += 1;
      if (command === "cas") client.store({ key, value: `node-${changes}`, expirySeconds: 900 });
    };
    await assert.rejects(journalOf("node-1").add(entryOf("op-1")), /the index journal:product:7 changed/);
  });
});
