import { randomBytes } from "node:crypto";
import type { RunAssignment, RunPreparation } from "../node/run-assignment";
import type { RunDocument } from "./document";
import { LabError } from "./lab-error";
import { newDocument } from "./new-document";
import { callNodes } from "./node-answers";
import type { NodeClient } from "./node-client";
import { type PlannedFault, planFaults } from "./plan-faults";
import { newRunId } from "./run-id";
import type { RunRequest } from "./run-request";
import { limitPerUserOf, prepareTarget } from "./run-target";

export interface OpenOptions {
  readonly nodes: readonly NodeClient[];
  /** The expected verdict on this many nodes. @throws LabError for an unknown or unavailable strategy */
  readonly expectedOf: (request: RunRequest, nodes: number) => RunDocument["expected"];
  readonly versions: () => Promise<Record<string, string>>;
}

/** A run that every node has acknowledged. */
export interface AssignedRun {
  readonly document: RunDocument;
  readonly runKey: string;
  readonly faults: readonly PlannedFault[];
}

export interface RunPlan {
  readonly nodes: number;
  readonly expected: RunDocument["expected"];
  readonly faults: readonly PlannedFault[];
}

/** Validates a request against this lab. Changes nothing. @throws LabError `too_many_nodes`, `unknown_strategy`, `strategy_unavailable`, `invalid_fault`, `fault_not_applicable` */
export function planRun(request: RunRequest, { nodes, expectedOf }: OpenOptions): RunPlan {
  const count = request.nodes ?? nodes.length;
  if (count > nodes.length) {
    throw new LabError("too_many_nodes", `nodes: ${count} requested, but the lab has ${nodes.length}.`, {
      field: "nodes",
    });
  }
  const serving = nodes.slice(0, count).map(({ address }) => address.name);
  return { nodes: count, expected: expectedOf(request, count), faults: planFaults(request, serving) };
}

/** Creates or resets the row to sell and assigns the run to every node. @throws LabError `target_not_found`, `node_unavailable` */
export async function assignRun(request: RunRequest, plan: RunPlan, options: OpenOptions): Promise<AssignedRun> {
  const id = newRunId();
  const target = await prepareTarget(id, request);
  if (!target) throw new LabError("target_not_found", `There is no ${request.target.kind} ${request.target.id}.`);
  const versions = await options.versions();
  const limitPerUser = await limitPerUserOf(target);
  const { nodes, expected, faults } = plan;
  const document = newDocument({ id, request, target, limitPerUser, nodes, expected, versions });
  const { strategy, stock, holdMs, ttlMs, waitTimeoutMs, fencing } = request;
  await prepareStock(options.nodes, id, { strategy, target, stock });
  const runKey = randomBytes(16).toString("hex");
  await assignToAll(options.nodes, { runId: id, runKey, strategy, target, holdMs, ttlMs, waitTimeoutMs, fencing });
  return { document, runKey, faults };
}

/** A strategy that keeps its stock outside the row gets it there before the first purchase. One node does this for all. */
async function prepareStock(nodes: readonly NodeClient[], runId: string, preparation: RunPreparation): Promise<void> {
  try {
    await nodes[0]?.prepare(runId, preparation);
  } catch (error) {
    throw new LabError("node_unavailable", `The stock could not be prepared: ${(error as Error).message}`);
  }
}

async function assignToAll(nodes: readonly NodeClient[], assignment: RunAssignment): Promise<void> {
  const results = await Promise.allSettled(nodes.map((node) => node.assign(assignment)));
  const failures = results.flatMap((result) =>
    result.status === "rejected" ? [(result.reason as Error).message] : [],
  );
  if (failures.length === 0) return;
  await callNodes(nodes, (node) => node.close(assignment.runId));
  throw new LabError("node_unavailable", `Not every node accepted the run: ${failures.join("; ")}`);
}
