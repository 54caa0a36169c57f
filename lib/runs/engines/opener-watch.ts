import { setTimeout as delay } from "node:timers/promises";
import { log } from "../../services/log";
import { type Connection, isConnectedTo, ownerOf } from "./connection-owner";
import { readCpu, watchGenerator } from "./cpu-watch";

/** Watches a generator that the lab did not start: whoever opened the run, if it is that which sends the purchases. */

export interface OpenedRun {
  readonly runId: string;
  /** On which the run was opened; null: it came through a proxy. */
  readonly connection: Connection | null;
  /** Where purchases are sent to. */
  readonly nodeUrls: readonly string[];
  /** The end of the run. */
  readonly until: AbortSignal;
}

const LOOK_EVERY_MS = 250;

/** Returns at once; looking and watching go on beside the run and end with it. */
export function watchOpener(run: OpenedRun): void {
  follow(run).catch((error: Error) => {
    if (!run.until.aborted) log().warn({ runId: run.runId, err: error }, "the load generator could not be watched");
  });
}

async function follow({ runId, connection, nodeUrls, until }: OpenedRun): Promise<void> {
  const watch = watchGenerator(runId, until);
  watch.doubt = "it reached the lab through a proxy";
  if (connection === null) return;
  watch.doubt = "its process was not found on the lab's machine: it is elsewhere, or it has gone";
  const pid = await ownerOf(connection);
  if (pid === null) return;
  watch.follow(pid);
  watch.doubt = "the process that opened the run sent no purchases";
  const ports = new Set(nodeUrls.map(portOf));
  // A script may open the run and leave the load to another program: what it takes itself says nothing then.
  while (!(await isConnectedTo(pid, ports))) {
    if (readCpu(pid) === null) return;
    await delay(LOOK_EVERY_MS, undefined, { signal: until, ref: false });
  }
  watch.doubt = null;
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === "https:" ? 443 : 80);
}
