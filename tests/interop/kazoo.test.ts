import { describe, it } from "node:test";
import { createLock } from "../../lib/locks/create-lock";
import { openLockClients } from "../support/lock-clients";
import { contend } from "./contention-run";

describe("zk-mutex and kazoo's Lock", () => {
  it("hold one lock in turn under contention, if kazoo is configured to see nodes with `-lock-`", async () => {
    await using clients = openLockClients();
    await using ours = createLock("zk-mutex", clients);
    await contend({ ours, clients, others: ["kazoo"], lockName: (resource) => `/locks/${resource}` });
  });
});
