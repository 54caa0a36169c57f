import { after, before } from "node:test";
import { currentNode } from "../../lib/node/current-node";
import { emptyPercentiles } from "../../lib/node/figures";
import { closeLockClients } from "../../lib/node/lock-dependencies";
import type { ClientReport } from "../../lib/runs/client-report";
import { Coordinator } from "../../lib/runs/coordinator";
import type { RunDocument } from "../../lib/runs/document";
import { NodeClient } from "../../lib/runs/node-client";
import { postgresPool, prisma } from "../../lib/services/postgres";
import { stockStrategies } from "../../lib/stock/stock-strategies";
import { startHotServer } from "./hot-server";

/** This test process as a store node and the coordinator of its runs. */
export interface RunLab {
  readonly url: string;
  readonly lab: Coordinator;
  /** Sends one purchase or claim of the run's load. */
  buyIn(run: Pick<RunDocument, "id" | "target">, userId: string): Promise<Response>;
}

/**
 * Opens the lab before the tests of the calling suite, and closes all connections of the process after them.
 * @returns a function that returns the opened lab during a test
 */
export function setUpRunLab(): RunLab {
  let opened: { readonly server: Awaited<ReturnType<typeof startHotServer>>; readonly lab: Coordinator } | null = null;
  const here = () => {
    if (!opened) throw new Error("call this function inside a test");
    return opened;
  };
  before(async () => {
    const server = await startHotServer();
    const lab = new Coordinator({
      nodes: [new NodeClient({ name: "node-1", url: server.url }, undefined)],
      expectedOf: ({ strategy }) => stockStrategies.get(strategy)?.traits.expected.alone ?? "safe",
      versions: async () => ({ lab: "test" }),
    });
    // The run of a killed test would block every other run.
    await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
    opened = { server, lab };
  });
  after(async () => {
    await opened?.lab.stop();
    await opened?.server.close();
    await currentNode()[Symbol.asyncDispose]();
    await closeLockClients();
    await postgresPool().end();
  });
  return {
    get url() {
      return here().server.url;
    },
    get lab() {
      return here().lab;
    },
    buyIn({ id, target }, userId) {
      const { server, lab } = here();
      const path = target.kind === "product" ? `products/${target.id}/reduce-stock` : `coupons/${target.id}/claim`;
      return fetch(`${server.url}/api/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-run-id": id, "x-run-key": lab.runKey(id) ?? "" },
        body: JSON.stringify({ userId }),
      });
    },
  };
}

/** The report of a load generator without losses. */
export function clientReport(
  iterations: number,
  latencyMs: ClientReport["latencyMs"] = emptyPercentiles,
): ClientReport {
  return { engine: "test", iterations, droppedIterations: 0, failedRequests: 0, arrivalSkewMs: 1, latencyMs };
}
