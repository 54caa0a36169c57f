import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type ZkConnection, type ZkCreateMode, ZkError, type ZkStat } from "../../../lib/locks/zookeeper/zk-port";
import { openZkSession } from "../../../lib/locks/zookeeper/zk-session";
import { SimZooKeeper } from "../../../simulator/servers/sim-zookeeper";
import { World } from "../../../simulator/world/world";
import { lockServers } from "../../support/lock-clients";

const SEQUENCES = 40;
/** Long, so no session expires on a busy machine: other tests cover expiry. */
const SESSION_TIMEOUT_MS = 20_000;
const CONNECT_LIMIT_MS = 10_000;

/** If the real server times out on a busy machine, the sequence is not compared. */
const NO_ANSWER = ["rejected: unreachable", "rejected: session-ended"];

const CLIENTS = [0, 1] as const;
/** A parent with ephemeral and persistent children, and a separate node. */
const PATHS = ["/queue", "/queue/a", "/lock"] as const;

const client = fc.constantFrom(...CLIENTS);
const path = fc.constantFrom(...PATHS);
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("create" as const),
      client,
      path,
      mode: fc.constantFrom<ZkCreateMode>("persistent", "ephemeral", "ephemeral-sequential", "ephemeral-sequential"),
      data: fc.constantFrom("one", ""),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      does: fc.constantFrom(
        "children",
        "watch",
        "watch",
        "read",
        "stat",
        "remove",
        "come-and-go",
        "remove-first-child",
      ),
      client,
      path,
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("leave" as const), client }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

type Connection = Pick<ZkConnection, "create" | "children" | "watch" | "read" | "stat" | "remove" | "sessionId"> & {
  leave(): Promise<void>;
};

/** One server, the real one or the model, with two clients. */
class Side {
  /** Null before this client has a session and after it has closed it. */
  readonly connections: (Connection | null)[] = CLIENTS.map(() => null);
  readonly fired: string[] = [];
  readonly #connect: () => Promise<Connection>;
  /** In the order of first appearance, because the servers number them differently. */
  readonly #sessions: string[] = ["0"];
  readonly #transactions = new Set<bigint>();

  constructor(connect: () => Promise<Connection>) {
    this.#connect = connect;
  }

  async connectionOf(client: number): Promise<Connection> {
    const connection = this.connections[client] ?? (await this.#connect());
    if (!this.#sessions.includes(connection.sessionId)) this.#sessions.push(connection.sessionId);
    this.connections[client] = connection;
    return connection;
  }

  /** The owner of the node, and the order of its transaction among those seen so far. */
  describe(stat: ZkStat | null): unknown {
    if (!stat) return null;
    const { ephemeralOwner, czxid } = stat;
    this.#transactions.add(czxid);
    const below = [...this.#transactions].filter((seen) => seen < czxid).length;
    return { owner: this.#sessions.indexOf(ephemeralOwner), below };
  }
}

describe("the simulator's ZooKeeper", () => {
  it("answers every operation of the locks and notifies watchers like the real one", async () => {
    const sequence = fc.array(step, { minLength: 4, maxLength: 24, size: "max" });
    await fc.assert(fc.asyncProperty(sequence, compare), {
      numRuns: SEQUENCES,
      endOnFailure: true,
      includeErrorInReport: true,
    });
  });
});

async function compare(steps: readonly Step[]): Promise<void> {
  const root = `/model-${randomUUID()}`;
  const real = realSide(root);
  const model = modelSide(root);
  try {
    for (const side of [real, model])
      for (const path of ["", "/queue"]) await (await side.connectionOf(0)).create(path, "persistent");
    for (const [at, each] of steps.entries()) {
      const expected = await outcomeOf(real, each);
      fc.pre(!NO_ANSWER.includes(String(expected)));
      const answered = await outcomeOf(model, each);
      const where = `step ${at + 1}, ${JSON.stringify(each)}`;
      assert.deepEqual(answered, expected, where);
      // A client gets the event of a change before the answer to a later request.
      for (const side of [real, model]) for (const each of side.connections) await each?.read("");
      assert.deepEqual([...model.fired].sort(), [...real.fired].sort(), where);
    }
  } finally {
    for (const each of CLIENTS) await real.connections[each]?.leave();
    await cleanUp(root);
  }
}

/** The answer, or the kind of error. */
async function outcomeOf(side: Side, step: Step): Promise<unknown> {
  const connection = await side.connectionOf(step.client);
  const [settled] = await Promise.allSettled([carryOut(side, connection, step)]);
  if (settled.status === "fulfilled") return settled.value;
  assert.ok(settled.reason instanceof ZkError, String(settled.reason));
  return `rejected: ${settled.reason.kind}`;
}

async function carryOut(side: Side, connection: Connection, step: Step): Promise<unknown> {
  switch (step.does) {
    case "create":
      return connection.create(step.path, step.mode, step.data);
    case "children":
      return (await connection.children(step.path)).sort();
    case "watch":
      return connection.watch(step.path, () => {
        // A closing client may miss the events of the nodes that it owned.
        if (side.connections[step.client] === connection) side.fired.push(`client ${step.client}: ${step.path}`);
      });
    case "read":
      return connection.read(step.path);
    case "stat":
      return side.describe(await connection.stat(step.path));
    case "remove":
      return connection.remove(step.path);
    case "come-and-go": {
      const isRemoved = await connection.remove(step.path);
      await connection.create(step.path, "persistent");
      return { isRemoved, isRemovedAgain: await connection.remove(step.path) };
    }
    case "remove-first-child": {
      const [first] = (await connection.children(step.path)).sort();
      return first === undefined ? null : connection.remove(`${step.path}/${first}`);
    }
    case "leave":
      side.connections[step.client] = null;
      return connection.leave();
  }
}

function realSide(root: string): Side {
  return new Side(async () => {
    const session = openZkSession(lockServers().zookeeper, { sessionTimeoutMs: SESSION_TIMEOUT_MS });
    const connection = await session.connected(AbortSignal.timeout(CONNECT_LIMIT_MS));
    return {
      sessionId: connection.sessionId,
      create: async (path, mode, data) => (await connection.create(root + path, mode, data)).slice(root.length),
      children: (path) => connection.children(root + path),
      watch: (path, changed) => connection.watch(root + path, changed),
      read: (path) => connection.read(root + path),
      stat: (path) => connection.stat(root + path),
      remove: (path) => connection.remove(root + path),
      leave: () => Promise.resolve(session[Symbol.asyncDispose]()),
    };
  });
}

function modelSide(root: string): Side {
  const server = new SimZooKeeper(new World(1), "model", 1);
  return new Side(async () => {
    const session = server.connect({ session: null, timeoutMs: SESSION_TIMEOUT_MS, closeConnection: () => {} });
    assert.ok(session);
    return {
      sessionId: session,
      create: async (path, mode, data = "") => server.create(session, root + path, { mode, data }).slice(root.length),
      children: async (path) => server.children(root + path),
      watch: async (path, changed) => server.watch(session, root + path, changed),
      read: async (path) => server.read(root + path),
      stat: async (path) => server.stat(root + path),
      remove: async (path) => server.remove(session, root + path),
      leave: async () => server.close(session),
    };
  });
}

async function cleanUp(root: string): Promise<void> {
  await using session = openZkSession(lockServers().zookeeper);
  const connection = await session.connected(AbortSignal.timeout(CONNECT_LIMIT_MS));
  const removeAll = async (path: string): Promise<void> => {
    for (const child of await connection.children(path)) await removeAll(`${path}/${child}`);
    await connection.remove(path);
  };
  await removeAll(root);
}
