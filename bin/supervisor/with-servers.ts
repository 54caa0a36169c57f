import { printError } from "../shared/terminal";
import { Lab, SERVER_ENV_NAMES } from "./lab";
import { instancePaths } from "./paths";

export interface ServerInstance {
  /** Name of the lab instance, and the first of its ports: separate from `npm start` and `npm test`. */
  readonly instance: string;
  readonly portBase: number;
}

/** Starts every server without the app, sets this process's environment to them, and stops them after the work. */
export async function withServers<T>(
  { instance, portBase }: ServerInstance,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (const name of SERVER_ENV_NAMES) delete process.env[name];
  const lab = await Lab.claim({
    paths: instancePaths(instance),
    portBase,
    onStep: () => {},
    onNote: (sentence) => printError(sentence),
  });
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupted.abort());
  try {
    await lab.startServers();
    Object.assign(process.env, lab.state.env);
    return await work(interrupted.signal);
  } finally {
    await lab.stop();
  }
}
