import { createZkMutex } from "../../lib/locks/zookeeper/zk-mutex";
import type { ZkConnection } from "../../lib/locks/zookeeper/zk-port";
import { zooKeeperStrategy } from "../strategies/zookeeper";
import type { Mutant } from "./mutant";
import { withConnections } from "./mutated-connection";

const SEQUENCE_DIGITS = 10;

/** The list of the queue lacks its first node, unless this client created it, so the second one takes itself for the first. */
function overlookingFirst(connection: ZkConnection): Partial<ZkConnection> {
  const created = new Set<string>();
  return {
    create: async (path, mode, data) => {
      const full = await connection.create(path, mode, data);
      created.add(full.slice(full.lastIndexOf("/") + 1));
      return full;
    },
    children: async (path) => {
      const sequenceOf = (name: string) => name.slice(-SEQUENCE_DIGITS);
      const [first = "", ...others] = (await connection.children(path)).sort((one, other) =>
        sequenceOf(one).localeCompare(sequenceOf(other)),
      );
      return created.has(first) ? [first, ...others] : others;
    },
  };
}

export const firstNodeOverlooked: Mutant = {
  name: "first node overlooked",
  strategy: zooKeeperStrategy("zk-mutex", false, (session, dependencies) =>
    createZkMutex(withConnections(session, overlookingFirst), dependencies),
  ),
  profile: "benign",
  breaks: "mutual-exclusion",
};
