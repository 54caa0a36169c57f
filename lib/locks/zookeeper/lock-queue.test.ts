import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { contenderPrefix, placeOf } from "./lock-queue";

const uuid = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const node = (owner: number, sequence: number) => contenderPrefix(uuid(owner)) + String(sequence).padStart(10, "0");

describe("the lock queue", () => {
  it("puts the lowest sequence number first, whatever the uuid", () => {
    assert.deepEqual(placeOf(node(9, 1), [node(1, 2), node(9, 1)]), { isQueued: true, predecessor: null });
  });

  it("watches the one right before, not the first", () => {
    const children = [node(3, 7), node(1, 12), node(2, 9), node(4, 30)];
    assert.equal(placeOf(node(4, 30), children).predecessor, node(1, 12));
    assert.equal(placeOf(node(1, 12), children).predecessor, node(2, 9));
  });

  it("notices that its own node is gone", () => {
    assert.equal(placeOf(node(1, 5), [node(2, 4)]).isQueued, false);
  });

  it("keeps its order where the server's 32 bits run over", () => {
    const last = `${contenderPrefix(uuid(1))}2147483647`;
    const first = `${contenderPrefix(uuid(2))}-2147483648`;
    const second = `${contenderPrefix(uuid(3))}-2147483647`;
    const children = [second, last, first];
    assert.deepEqual(placeOf(last, children), { isQueued: true, predecessor: null });
    assert.equal(placeOf(first, children).predecessor, last);
    assert.equal(placeOf(second, children).predecessor, first);
  });

  it("queues behind Curator's and kazoo's contenders and ignores other nodes", () => {
    const kazoo = "0123456789abcdef0123456789abcdef__lock__0000000003";
    const children = [node(1, 5), kazoo, "config", "leases", "x-lock-123"];
    assert.equal(placeOf(node(1, 5), children).predecessor, kazoo);
  });
});
