import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { firstOf, positionOf, queueNodePrefix } from "./lock-queue";

const uuid = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const node = (owner: number, sequence: number) => queueNodePrefix(uuid(owner)) + String(sequence).padStart(10, "0");

describe("the lock queue", () => {
  it("orders by sequence number, not by uuid", () => {
    assert.deepEqual(positionOf(node(9, 1), [node(1, 2), node(9, 1)]), { isQueued: true, predecessor: null });
  });

  it("finds the node directly before, not the first node", () => {
    const children = [node(3, 7), node(1, 12), node(2, 9), node(4, 30)];
    assert.equal(positionOf(node(4, 30), children).predecessor, node(1, 12));
    assert.equal(positionOf(node(1, 12), children).predecessor, node(2, 9));
  });

  it("detects that its own node is gone", () => {
    assert.equal(positionOf(node(1, 5), [node(2, 4)]).isQueued, false);
  });

  it("keeps its order when the server's 32-bit sequence wraps", () => {
    const last = `${queueNodePrefix(uuid(1))}2147483647`;
    const first = `${queueNodePrefix(uuid(2))}-2147483648`;
    const second = `${queueNodePrefix(uuid(3))}-2147483647`;
    const children = [second, last, first];
    assert.deepEqual(positionOf(last, children), { isQueued: true, predecessor: null });
    assert.equal(positionOf(first, children).predecessor, last);
    assert.equal(positionOf(second, children).predecessor, first);
  });

  it("queues behind Curator's and kazoo's nodes and ignores other nodes", () => {
    const kazoo = "0123456789abcdef0123456789abcdef__lock__0000000003";
    const children = [node(1, 5), kazoo, "config", "leases", "x-lock-123"];
    assert.equal(positionOf(node(1, 5), children).predecessor, kazoo);
    assert.equal(firstOf(children), kazoo);
    assert.equal(firstOf(["config"]), null);
  });
});
