import path from "node:path";
import { serverKinds } from "../../servers/all-servers";
import type { ProcessSpec } from "../../servers/provisioning";
import { programArgs } from "../build/programs";
import { type InstancePaths, instancePaths, ROOT } from "./paths";
import type { LabState } from "./state";

/** The processes that serve the shop: the dashboard coordinates runs, and three store nodes sell. */

export const DASHBOARD = "dashboard";
export const STORE_NODE_NAMES = ["node-1", "node-2", "node-3"] as const;

const READY_TIMEOUT_MS = 60_000;
const HEALTH_TIMEOUT_MS = 2_000;

/** Only the lab sets these: a value from the user is either in the state's env or was rejected as unusable. */
const isSetByTheLab = (name: string) =>
  name.startsWith("LAB_MISSING_") || serverKinds.some(({ variable }) => variable === name);
const NOT_FOR_NODES = /^(npm_|LAB_PACKAGES_STEP$|LAB_PORT_)/;

export interface StoreNodeContext {
  readonly paths: InstancePaths;
  readonly state: LabState;
  readonly distDir: string;
  /** Where k6 is, or where `npm run k6` will put it. */
  readonly k6Binary: string;
}

export function storeNodeSpec(
  context: StoreNodeContext,
  node: { readonly name: string; readonly port: number },
): ProcessSpec {
  const { paths } = context;
  return {
    name: node.name,
    command: process.execPath,
    args: programArgs(context.distDir, "server"),
    cwd: ROOT,
    env: storeNodeEnv(context, node),
    logFile: path.join(paths.logsDir, `${node.name}.log`),
    readyTimeoutMs: READY_TIMEOUT_MS,
    isReady: () => isHealthy(`http://127.0.0.1:${node.port}/healthz`),
  };
}

/** The environment of lib/services/env.ts, completed for one node. */
export function storeNodeEnv(
  context: Omit<StoreNodeContext, "paths">,
  node: { readonly name: string; readonly port: number },
): Record<string, string | undefined> {
  const { state, distDir, k6Binary } = context;
  const inherited = Object.entries(process.env).filter(([name]) => !isSetByTheLab(name) && !NOT_FOR_NODES.test(name));
  const missing = Object.entries(state.missing).map(([service, why]) => [`LAB_MISSING_${service.toUpperCase()}`, why]);
  return {
    ...Object.fromEntries(inherited),
    ...Object.fromEntries(missing),
    ...state.env,
    NODE_ENV: "production",
    STORE_NODE: node.name,
    STORE_NODES: state.nodes.map(({ name, url }) => `${name}=${url}`).join(","),
    HOST: "127.0.0.1",
    PORT: String(node.port),
    LAB_INSTANCE: state.instance,
    LAB_STATE_FILE: instancePaths(state.instance).stateFile,
    LAB_CONTROL_FILE: instancePaths(state.instance).controlFile,
    LAB_COMMIT: state.commit,
    SPOOL_DIR: path.join(instancePaths(state.instance).dir, "spool"),
    NEXT_DIST_DIR: distDir,
    K6_BINARY: k6Binary,
  };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false; // Not listening yet.
  }
}
