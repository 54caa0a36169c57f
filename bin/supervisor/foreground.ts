import { printable } from "../../load-tests/lib/printable.js";
import type { Output } from "../shared/terminal";
import { Lab, type LabOptions } from "./lab";
import { downCommand } from "./paths";
import { formatUrls, StepPrinter } from "./print";

/** Runs a lab in this process until Ctrl-C, `lab down` or a closed terminal stops it. */

export interface ForegroundOptions extends Pick<LabOptions, "paths" | "portBase"> {
  readonly serversOnly: boolean;
  readonly out: Output;
  /** Called when the lab is up. The lab stops when the promise settles; absent: at a signal. */
  readonly whenReady?: (lab: Lab, signal: AbortSignal) => Promise<void>;
}

const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Makes the supervisor start failed processes now. */
export const REVIVE_SIGNAL = "SIGUSR2";

/**
 * @returns the exit code: 0 after an orderly stop, 1 if the lab failed to start
 * @throws AlreadyUpError
 */
export async function runInForeground(options: ForegroundOptions): Promise<number> {
  const printer = new StepPrinter(options.out);
  const lab = await Lab.claim({
    paths: options.paths,
    portBase: options.portBase,
    onStep: (state) => printer.show(state.steps),
    onNote: (sentence) => printer.note(`${new Date().toISOString()} ${sentence}`),
  });
  const interrupted = new AbortController();
  // npm forwards the Ctrl-C that the terminal has already sent, so a second signal has no further meaning.
  const interrupt = (signal: NodeJS.Signals) => interrupted.abort(signal);
  for (const signal of STOP_SIGNALS) process.on(signal, interrupt);
  const revive = () => lab.revive();
  process.on(REVIVE_SIGNAL, revive);
  // An uncaught error must not leave servers running.
  const crash = (error: unknown) => {
    lab.fail(error);
    printer.note(error instanceof Error ? (error.stack ?? error.message) : String(error));
    interrupted.abort(error);
  };
  process.on("uncaughtException", crash);
  try {
    const up = bringUp(lab, options);
    const wasInterrupted = await raceInterrupt(up, interrupted.signal);
    if (!wasInterrupted) {
      printer.clear();
      options.out.write(printable(formatUrls(lab.state)));
      await untilStopped(lab, { options, signal: interrupted.signal });
    }
    up.catch(() => undefined); // After an interrupt the error of the start is expected.
    return lab.state.error === null ? 0 : 1;
  } catch (error) {
    lab.fail(error);
    printer.clear();
    printer.note(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    printer.clear();
    await lab.stop();
    if (interrupted.signal.aborted) options.out.write("Stopped.\n");
    for (const signal of STOP_SIGNALS) process.off(signal, interrupt);
    process.off(REVIVE_SIGNAL, revive);
    process.off("uncaughtException", crash);
  }
}

async function bringUp(lab: Lab, options: ForegroundOptions): Promise<void> {
  await lab.startServers();
  if (!options.serversOnly) await lab.startApp();
  lab.markReady();
}

/** @returns true if the signal came first */
async function raceInterrupt(work: Promise<void>, signal: AbortSignal): Promise<boolean> {
  return Promise.race([work.then(() => false), aborted(signal).then(() => true)]);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

async function untilStopped(lab: Lab, run: { options: ForegroundOptions; signal: AbortSignal }): Promise<void> {
  const { options, signal } = run;
  if (options.whenReady) {
    await options.whenReady(lab, signal);
    return;
  }
  options.out.write(`Stop it with Ctrl-C, or with \`${downCommand(options.paths.instance)}\` in another terminal.\n\n`);
  // A pending promise alone does not keep the process alive.
  const keepAlive = setInterval(() => undefined, 60_000);
  await aborted(signal);
  clearInterval(keepAlive);
}
