import { randomBytes } from "node:crypto";
import type { RunAssignment } from "../node/run-assignment";
import { env } from "../services/current-env";
import { settingText } from "../services/number-text";
import { prisma } from "../services/postgres";
import { resourceOf } from "../stock/types";
import type { RunDocument } from "./document";
import { longestPurchaseMs, readUntilIdle } from "./drain";
import type { FaultMeans } from "./fault-means";
import { LabError } from "./lab-error";
import { newDocument, startNow } from "./new-document";
import type { NodeClient } from "./node-client";
import { type PlannedFault, planFaults } from "./plan-faults";
import { type Claim, insertClaim, openClaim } from "./run-claim";
import { newRunId } from "./run-id";
import type { RunRequest } from "./run-request";
import { findOrCreateTarget, limitPerUserOf, resetStock } from "./run-target";

/** For the calls to nodes and servers that prepare a run. */
const PREPARE_LIMIT_MS = 60_000;

export interface OpenOptions {
  readonly nodes: readonly NodeClient[];
  /** The expected verdict on this many nodes. @throws LabError for an unknown or unavailable strategy */
  readonly expectedOf: (request: RunRequest, nodes: number) => RunDocument["expected"];
  readonly versions: () => Promise<Record<string, string>>;
}

export interface RunPlan {
  readonly nodes: number;
  readonly expected: RunDocument["expected"];
  readonly faults: readonly PlannedFault[];
  /** Ports of the proxies that the faults need. */
  readonly proxyPorts?: RunAssignment["proxyPorts"];
  /** Servers of the topology that a fault needs. */
  readonly serverAddresses?: RunAssignment["serverAddresses"];
}

/** A run that this process has claimed and that no node knows yet. */
export interface ClaimedRun {
  readonly document: RunDocument;
  readonly assignment: RunAssignment & { readonly runKey: string };
  readonly faults: readonly PlannedFault[];
  /** The stock to give a row that existed before the run; null if the run created its row. */
  readonly stockToSet: number | null;
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

/** Ends the transaction without a change. */
class AnotherRunIsRunning extends Error {}

/**
 * Claims the lab's one run for this process, and creates the row to sell unless the request names one. Touches no stock.
 * @returns null if another run is running
 * @throws LabError `target_not_found`
 */
export async function claimRun(
  request: RunRequest,
  plan: RunPlan,
  options: OpenOptions & Pick<Claim, "openedBy">,
): Promise<ClaimedRun | null> {
  const id = newRunId();
  const versions = await options.versions();
  const claim = prisma().$transaction(async (database) => {
    const target = await findOrCreateTarget(database, id, request);
    if (!target) throw new LabError("target_not_found", `There is no ${request.target.kind} ${request.target.id}.`);
    const limitPerUser = await limitPerUserOf(database, target);
    const { nodes, expected, faults, proxyPorts, serverAddresses } = plan;
    const document = newDocument({ id, request, target, limitPerUser, nodes, expected, versions });
    const { strategy, holdMs, ttlMs, waitTimeoutMs, fencing } = request;
    const runKey = randomBytes(16).toString("hex");
    const assignment = {
      runId: id,
      runKey,
      strategy,
      target,
      holdMs,
      ttlMs,
      waitTimeoutMs,
      ...(fencing === undefined ? {} : { fencing }),
      ...(proxyPorts === undefined ? {} : { proxyPorts }),
      ...(serverAddresses === undefined ? {} : { serverAddresses }),
    };
    const deadlineAtEpochMs = Date.now() + drainLimitMs() + PREPARE_LIMIT_MS;
    const { openedBy } = options;
    if (!(await insertClaim(database, { document, assignment, openedBy, deadlineAtEpochMs }))) {
      throw new AnotherRunIsRunning();
    }
    return { document, assignment, faults, stockToSet: request.target.id === undefined ? null : request.stock };
  });
  return claim.catch((error: Error) => {
    if (error instanceof AnotherRunIsRunning) return null;
    throw error;
  });
}

/**
 * Reserves the target on every node, waits for the shop's purchases of it, sets its stock, and opens the run.
 * @returns the document of the open run
 * @throws LabError `node_unavailable`
 */
export async function prepareRun(
  run: ClaimedRun,
  nodes: readonly NodeClient[],
  { means, limitMs }: { readonly means: FaultMeans; readonly limitMs: number },
): Promise<RunDocument> {
  const { assignment, stockToSet } = run;
  const { runId, target, strategy } = assignment;
  await drainShop(nodes, assignment);
  if (stockToSet !== null && !(await resetStock(runId, target, stockToSet))) throw takenAway(runId);
  await means.receiveTarget(target);
  const stock = run.document.config.stock;
  // A strategy that keeps its stock outside the row gets it there before the first purchase. One node does this for all.
  await callAll(nodes.slice(0, 1), "prepare the stock", (node) => node.prepare(runId, { strategy, target, stock }));
  const document = { ...run.document, ...startNow() };
  if (!(await openClaim(document, Date.now() + limitMs))) throw takenAway(runId);
  await callAll(nodes, "open the run", (node) => node.open(runId));
  return document;
}

/** Reserves the target, and waits until no purchase or give-back of the shop can change its stock any more. */
async function drainShop(nodes: readonly NodeClient[], assignment: RunAssignment): Promise<void> {
  const limitMs = drainLimitMs();
  const totalOf = (inFlight: readonly number[]) => inFlight.reduce((sum, count) => sum + count, 0);
  const reserve = () => callAll(nodes, "accept the run", (node) => node.reserve(assignment));
  const left = totalOf(await readUntilIdle(reserve, totalOf, limitMs));
  if (left === 0) return;
  const purchases = `${left} purchases of ${resourceOf(assignment.target)}`;
  throw new LabError("node_unavailable", `${purchases} in the shop did not end within ${settingText(limitMs)}. Retry.`);
}

/** As long as a purchase of the shop may take. */
function drainLimitMs(): number {
  const { WAIT_TIMEOUT_MS, HOLD_MS } = env();
  return longestPurchaseMs({ waitTimeoutMs: WAIT_TIMEOUT_MS, holdMs: HOLD_MS });
}

/** @throws LabError `node_unavailable` that names every node that failed */
async function callAll<T>(
  nodes: readonly NodeClient[],
  what: string,
  call: (node: NodeClient) => Promise<T>,
): Promise<T[]> {
  const results = await Promise.allSettled(nodes.map(call));
  const failures = results.flatMap((result) =>
    result.status === "rejected" ? [(result.reason as Error).message] : [],
  );
  if (failures.length > 0)
    throw new LabError("node_unavailable", `Not every node could ${what}: ${failures.join("; ")}`);
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

function takenAway(runId: string): LabError {
  return new LabError("run_active", `Run ${runId} took too long to prepare, and another process ended it. Try again.`);
}
