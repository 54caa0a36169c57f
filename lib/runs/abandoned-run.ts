import { log } from "../services/log";
import type { NodeClient } from "./node-client";
import { openerName, type RunningRun } from "./run-claim";

const CHECK_EVERY_MS = 5_000;

/** The name of the store node that opened the run, if that node is gone; null if it is not, or if the opener is no store node. */
export async function goneOpener({ openedBy }: RunningRun, nodes: readonly NodeClient[]): Promise<string | null> {
  const opener = nodes.find(({ address }) => openedBy.startsWith(openerName(address.name, "")));
  return opener !== undefined && (await opener.isGone()) ? opener.address.name : null;
}

/** Ends runs whose opener died and stays dead, so that they block no other run until their deadline. */
export class AbandonedRuns {
  private timer: NodeJS.Timeout | null = null;
  private isStopped = false;

  constructor(private readonly endAbandonedRun: () => Promise<void>) {}

  start(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => void this.check().then(() => this.start()), CHECK_EVERY_MS);
    this.timer.unref();
  }

  /** A run that is being ended now stays running, and the next process ends it. */
  stop(): void {
    this.isStopped = true;
    if (this.timer) clearTimeout(this.timer);
  }

  private async check(): Promise<void> {
    await this.endAbandonedRun().catch((error: Error) => {
      log().warn({ reason: error.message }, "could not look for an abandoned run; retrying");
    });
  }
}
