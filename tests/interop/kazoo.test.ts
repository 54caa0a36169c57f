import { describe, it } from "node:test";
import { createLock } from "../../lib/locks/create-lock";
import { openLockClients } from "../support/lock-clients";
import { contend } from "./contest";

describe("zk-mutex and kazoo's Lock", () => {
  it("hold one lock in turn under contention, kazoo told to see nodes with `-lock-`", async () => {
    await using clients = openLockClients();
    await using ours = createLock("zk-mutex", clients);
    await contend({ ours, clients, others: ["kazoo"], lockName: (resource) => `/locks/${resource}` });
  });
});
