import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { proxiedAddress } from "./fault-means";

const ENSEMBLE = { addresses: { servers: { zookeeper: "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3" }, processes: {} } };

describe("the proxies of a run with a topology", () => {
  const latency = { topology: null, servers: ["zookeeper" as const, "postgres" as const] };

  it("lead to the topology's servers only for the topology's own fault", () => {
    const partition = { topology: "zk-3" as const, servers: ["zookeeper" as const] };
    assert.equal(
      proxiedAddress("zookeeper", { planned: [latency, partition], topology: ENSEMBLE }),
      ENSEMBLE.addresses.servers.zookeeper,
    );
    const kill = { topology: "zk-3" as const, servers: [] };
    assert.equal(proxiedAddress("zookeeper", { planned: [latency, kill], topology: ENSEMBLE }), undefined);
  });

  it("lead to the lab's servers if the topology does not replace them", () => {
    const configured = (server: string) => `${server} of the lab`;
    for (const topology of [ENSEMBLE, null]) {
      assert.equal(proxiedAddress("postgres", { planned: [latency], topology, configured }), "postgres of the lab");
    }
    const direct = { planned: [latency], topology: null, configured };
    assert.equal(proxiedAddress("zookeeper", direct), "zookeeper of the lab");
  });
});
