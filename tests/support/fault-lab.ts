import { after, before } from "node:test";
import { Coordinator } from "../../lib/runs/coordinator";
import { expectedVerdict } from "../../lib/runs/expected";
import { NodeClient } from "../../lib/runs/node-client";
import { env } from "../../lib/services/current-env";
import { postgresPool, prisma } from "../../lib/services/postgres";
import { traitsOf } from "../../lib/stock/stock-strategies";
import { type ShopNode, startShopNodes } from "./shop-node";

/**
 * A coordinator in this process for the runs of `nodes`, named node-1, node-2 and so on. It expects what the traits predict.
 * Ends the run of a killed test, which would block all others.
 */
export async function openFaultLab(nodes: readonly ShopNode[]): Promise<Coordinator> {
  const named = nodes.map(({ url }, index) => ({ name: `node-${index + 1}`, url }));
  // A node that starts ends the run of an earlier process with its own name.
  if (named.some(({ name }) => name === env().STORE_NODE)) throw new Error("STORE_NODE must not be the name of a node");
  await prisma().run.updateMany({ where: { status: "running" }, data: { status: "failed" } });
  return new Coordinator({
    nodes: named.map((address) => new NodeClient(address, undefined)),
    expectedOf: (request, count) => expectedVerdict(traitsOf(request.strategy), { ...request, nodes: count }),
    versions: async () => ({ lab: "test" }),
  });
}

export interface FaultLab {
  readonly nodes: readonly ShopNode[];
  readonly coordinator: Coordinator;
}

/** Two store nodes and a coordinator for the tests of a block, in which both may be read. */
export function useFaultLab(): FaultLab {
  let nodes: readonly ShopNode[] = [];
  let coordinator: Coordinator;
  before(async () => {
    nodes = await startShopNodes(["node-1", "node-2"], "sql-guarded");
    coordinator = await openFaultLab(nodes);
  });
  after(async () => {
    await coordinator?.stop();
    await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    await postgresPool().end();
  });
  return {
    get nodes() {
      return nodes;
    },
    get coordinator() {
      return coordinator;
    },
  };
}
