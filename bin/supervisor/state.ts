import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { isSameProcess, self } from "../shared/process-identity.mjs";
import type { InstancePaths } from "./paths";

/** `.lab/<instance>/state.json`: other commands read it, and the next start cleans up by it after a crash. */

const identity = z.object({ pid: z.int(), start: z.string() });

const stepSchema = z.object({
  name: z.string(),
  status: z.enum(["running", "done", "missing", "failed"]),
  detail: z.string(),
  durationMs: z.number(),
});
export type Step = z.infer<typeof stepSchema>;

const processSchema = identity.extend({
  name: z.string(),
  logFile: z.string(),
  restarts: z.int().min(0),
});
export type RecordedProcess = z.infer<typeof processSchema>;

/** A process that kept exiting. The lab tries to start it at long intervals. */
const failedSchema = z.object({
  name: z.string(),
  reason: z.string(),
  logFile: z.string(),
});
export type FailedProcess = z.infer<typeof failedSchema>;

const nodeSchema = z.object({ name: z.string(), url: z.string() });

const stateSchema = z.object({
  version: z.literal(1),
  instance: z.string(),
  status: z.enum(["starting", "ready", "stopping", "stopped", "failed"]),
  supervisor: identity,
  startedAtEpochMs: z.number(),
  commit: z.string(),
  /** In the order in which they finished; running steps last. */
  steps: z.array(stepSchema),
  /** Null until the store nodes answer, and with --servers-only. */
  dashboardUrl: z.string().nullable(),
  nodes: z.array(nodeSchema),
  /** Addresses of the servers, such as DATABASE_URL. */
  env: z.record(z.string(), z.string()),
  /** Why a server is unavailable, and the fix, by server. */
  missing: z.record(z.string(), z.string()),
  processes: z.array(processSchema),
  failed: z.array(failedSchema).default([]),
  error: z.string().nullable(),
});
export type LabState = z.infer<typeof stateSchema>;

/** The state of a lab that this process starts to supervise. */
export function initialState(instance: string, commit: string): LabState {
  return {
    version: 1,
    instance,
    status: "starting",
    supervisor: self(),
    startedAtEpochMs: Date.now(),
    commit,
    steps: [],
    dashboardUrl: null,
    nodes: [],
    env: {},
    missing: {},
    processes: [],
    failed: [],
    error: null,
  };
}

/** Processes of a live lab that do not run now: the supervisor restarts them, or cannot write the state on a full disk. */
export function endedProcesses({ processes }: LabState): readonly RecordedProcess[] {
  return processes.filter((process) => !isSameProcess(process));
}

/** The state on disk; null if there is none or it is unusable. */
export function readState(paths: InstancePaths): LabState | null {
  if (!existsSync(paths.stateFile)) return null;
  try {
    return stateSchema.parse(JSON.parse(readFileSync(paths.stateFile, "utf8")));
  } catch {
    return null; // Written by another version, or damaged.
  }
}

/** The state of a lab whose supervisor is running; null if there is none. */
export function readLiveState(paths: InstancePaths): LabState | null {
  const state = readState(paths);
  if (!state || state.status === "stopped") return null;
  return isSameProcess(state.supervisor) ? state : null;
}

/** The processes of a lab whose supervisor has died: nothing restarts them. Empty if the supervisor runs. */
export function unsupervisedProcesses(state: LabState | null): readonly RecordedProcess[] {
  if (!state || isSameProcess(state.supervisor)) return [];
  return state.processes.filter((recorded) => isSameProcess(recorded));
}

/** Replaces the file atomically. Only its owner may read it, because URLs contain passwords. */
export function writeState(paths: InstancePaths, state: LabState): void {
  mkdirSync(path.dirname(paths.stateFile), { recursive: true });
  const next = `${paths.stateFile}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, paths.stateFile);
}
