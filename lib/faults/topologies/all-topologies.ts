import type { TopologyId } from "./ids";
import { sentinel } from "./sentinel";
import type { Topology } from "./topology";

/** Every topology, with the code that starts it. Only the lab's supervisor and tests import this. */
export const topologiesById: Readonly<Record<TopologyId, Topology>> = { sentinel };
