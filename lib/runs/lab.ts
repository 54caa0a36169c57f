import { join } from "node:path";
import { env } from "../services/current-env";
import { log } from "../services/log";
import { postgresPool } from "../services/postgres";
import { processSingleton } from "../services/singleton";
import { Coordinator } from "./coordinator";
import type { RunDocument } from "./document";
import { rejectTooManyBuyers } from "./engines/buyer-limit";
import { chooseEngine, createEngines } from "./engines/choose";
import { expectedVerdict } from "./expected";
import { describeStrategy, storeNodes } from "./lab-description";
import { LabError } from "./lab-error";
import { NodeClient } from "./node-client";
import type { RunRequest } from "./run-request";

/** The coordinator of this process, and the start of load for its runs. */

export function coordinator(): Coordinator {
  return processSingleton("coordinator", () => {
    const token = env().LAB_ADMIN_TOKEN;
    return new Coordinator({
      nodes: storeNodes().map((address) => new NodeClient(address, token)),
      expectedOf,
      versions,
      endLoad,
    });
  });
}

function expectedOf(request: RunRequest, nodes: number): RunDocument["expected"] {
  const { strategy } = request;
  const described = describeStrategy(strategy);
  if (!described.available) {
    throw new LabError(
      "strategy_unavailable",
      `strategy: ${strategy} is not available. ${described.unavailableReason}`,
      {
        field: "strategy",
      },
    );
  }
  return expectedVerdict(described, { ...request, nodes });
}

async function versions(): Promise<Record<string, string>> {
  const result = await postgresPool().query("SELECT current_setting('server_version') AS version");
  const postgres = (result.rows[0] as { version: string } | undefined)?.version ?? "unknown";
  return { lab: env().LAB_COMMIT, node: process.version, postgres };
}

/** Opens a run and, with `launch`, starts its load. Returns as soon as the run is open. */
export async function openRun(request: RunRequest): Promise<RunDocument> {
  if (!request.launch) return coordinator().open(request);
  const wanted = request.engine === "external" ? "k6" : request.engine;
  const choice = await chooseEngine(wanted, createEngines({ k6Binary: env().K6_BINARY }));
  rejectTooManyBuyers(request, choice.engine.id);
  const document = await coordinator().open({ ...request, engine: choice.engine.id });
  void drive(document, choice.engine);
  return document;
}

/** The engines that send load now, by run. */
const loads = () => processSingleton("loads", () => new Map<string, AbortController>());

/** Ends a run early, and its load if this process sends it. @throws LabError `run_not_found` */
export async function stopRun(id: string): Promise<RunDocument> {
  const stopped = coordinator().stopRun(id);
  endLoad(id);
  return stopped;
}

function endLoad(id: string): void {
  loads().get(id)?.abort();
}

/** Waits for the engine. If it fails, the run fails with the engine's reason. */
async function drive(document: RunDocument, engine: Awaited<ReturnType<typeof chooseEngine>>["engine"]): Promise<void> {
  const token = env().LAB_ADMIN_TOKEN;
  const runKey = coordinator().runKey(document.id);
  const load = new AbortController();
  loads().set(document.id, load);
  try {
    const result = await engine.start({
      runId: document.id,
      document,
      dashboardUrl: `http://127.0.0.1:${env().PORT}`,
      ...(token ? { adminToken: token } : {}),
      ...(runKey ? { runKey } : {}),
      signal: load.signal,
      onStart: () => coordinator().loadStarted(document.id),
      logFile: join(process.cwd(), ".lab", "logs", `run-${document.id}.log`),
    });
    if (!result.ok) await coordinator().failLoad(document.id, result.reason ?? "The load generator failed.");
  } catch (error) {
    log().error({ runId: document.id, err: error }, "could not start the load generator");
    await coordinator()
      .fail(document.id, "The load generator could not be started.")
      .catch((failure: Error) => log().error({ runId: document.id, err: failure }, "could not end the run as failed"));
  } finally {
    loads().delete(document.id);
  }
}
