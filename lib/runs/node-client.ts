import type { StopReport } from "../faults/fault";
import { type ArmedStop, LONGEST_PAUSE_MS } from "../node/node-stops";
import type { NodeRunStats } from "../node/purchase-meter";
import type { NewRoutes, RunAssignment, RunPreparation } from "../node/run-assignment";
import type { StockDrift } from "../stock/types";

/** Limit of a control call. A loaded node answers late. */
const CONTROL_TIMEOUT_MS = 10_000;
/** For the question whether a node exists. */
const ANSWER_TIMEOUT_MS = 2_000;
/** The same for a node that a fault may have stopped. */
const PAUSED_TIMEOUT_MS = LONGEST_PAUSE_MS + CONTROL_TIMEOUT_MS;

export interface NodeAddress {
  readonly name: string;
  readonly url: string;
}

/** Client of a store node's control routes, which lib/http serves. */
export class NodeClient {
  constructor(
    readonly address: NodeAddress,
    private readonly adminToken: string | undefined,
  ) {}

  /** @returns the shop's purchases and give-backs of the target that are still in flight on the node */
  async reserve(assignment: RunAssignment): Promise<number> {
    const response = await this.call(`runs/${assignment.runId}`, { method: "PUT", body: assignment });
    return ((await response.json()) as { inFlight: number }).inFlight;
  }

  async open(runId: string): Promise<void> {
    await this.call(`runs/${runId}/open`, { method: "POST", body: {} });
  }

  /** Makes the strategy move the stock to where it keeps it. Called on one node, before the run is open. */
  async prepare(runId: string, preparation: RunPreparation): Promise<void> {
    await this.call(`runs/${runId}/prepare`, { method: "POST", body: preparation });
  }

  /** Undoes `prepare`. Called on one node, after the run's counter was read. */
  async handBack(runId: string): Promise<void> {
    await this.call(`runs/${runId}/prepare`, { method: "DELETE" });
  }

  /** After this call the node serves new purchases of the run through these proxies. A paused node answers when it resumes. */
  async reroute(runId: string, routes: NewRoutes): Promise<void> {
    await this.call(`runs/${runId}/routes`, { method: "PUT", body: routes, timeoutMs: PAUSED_TIMEOUT_MS });
  }

  /** After this call the node counts no new purchase for the run. */
  async close(runId: string): Promise<void> {
    await this.call(`runs/${runId}/close`, { method: "POST", body: {} });
  }

  async stats(runId: string): Promise<NodeRunStats> {
    const response = await this.call(`runs/${runId}/stats`, { method: "GET" });
    return (await response.json()) as NodeRunStats;
  }

  /** Null for a strategy that keeps its stock in PostgreSQL. */
  async drift(runId: string): Promise<StockDrift | null> {
    const response = await this.call(`runs/${runId}/drift`, { method: "GET" });
    return (await response.json()) as StockDrift | null;
  }

  /** Settles the run's journal entries on this node. Only if no purchase of the run can still write an order. */
  async settle(runId: string): Promise<void> {
    await this.call(`runs/${runId}/settle`, { method: "POST", body: {} });
  }

  /** The operations that the node recorded, as NDJSON. */
  async history(runId: string): Promise<string> {
    const response = await this.call(`runs/${runId}/history`, { method: "GET" });
    return response.text();
  }

  /** Makes the node pause or kill itself at a point of the run. @returns the index of this stop in the outcomes */
  async armStop(runId: string, stop: ArmedStop): Promise<number> {
    const response = await this.call(`runs/${runId}/stops`, { method: "PUT", body: stop });
    return ((await response.json()) as { place: number }).place;
  }

  /** The outcomes of the run's stops. A paused node answers when it resumes. */
  async stops(runId: string): Promise<StopReport> {
    const response = await this.call(`runs/${runId}/stops`, { method: "GET", timeoutMs: PAUSED_TIMEOUT_MS });
    return (await response.json()) as StopReport;
  }

  /** Cancels stops that have not happened. A paused node answers when it resumes. */
  async disarmStops(runId: string): Promise<StopReport> {
    const response = await this.call(`runs/${runId}/stops`, { method: "DELETE", timeoutMs: PAUSED_TIMEOUT_MS });
    return (await response.json()) as StopReport;
  }

  async switchStrategy(id: string): Promise<void> {
    await this.call("strategy", { method: "PUT", body: { id } });
  }

  async activeStrategy(): Promise<string> {
    const response = await this.call("strategy", { method: "GET" });
    return ((await response.json()) as { id: string }).id;
  }

  /** True if no process accepts connections at the node's address. A slow or paused process still accepts them. */
  async isGone(): Promise<boolean> {
    try {
      await fetch(`${this.address.url}/healthz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
      return false;
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      // In containers the name of a stopped node does not exist.
      return code === "ECONNREFUSED" || code === "ENOTFOUND";
    }
  }

  private async call(path: string, request: { method: string; body?: unknown; timeoutMs?: number }): Promise<Response> {
    const response = await fetch(`${this.address.url}/api/node/${path}`, {
      method: request.method,
      headers: {
        ...(request.body === undefined ? {} : { "content-type": "application/json" }),
        ...(this.adminToken ? { authorization: `Bearer ${this.adminToken}` } : {}),
      },
      ...(request.body === undefined ? {} : { body: JSON.stringify(request.body) }),
      signal: AbortSignal.timeout(request.timeoutMs ?? CONTROL_TIMEOUT_MS),
    }).catch((error: Error) => {
      throw new NodeControlError(this.address.name, `did not answer (${error.cause ?? error.message})`);
    });
    if (response.ok) return response;
    const body = (await response.json().catch(() => null)) as { error?: { message?: string } } | null;
    throw new NodeControlError(this.address.name, body?.error?.message ?? `answered ${response.status}`);
  }
}

export class NodeControlError extends Error {
  override readonly name = "NodeControlError";
  constructor(
    readonly node: string,
    readonly reason: string,
  ) {
    super(`${node}: ${reason}`);
  }
}
