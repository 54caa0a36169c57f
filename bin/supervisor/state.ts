import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { isSameProcess } from "../shared/process-identity.mjs";
import type { InstancePaths } from "./paths";

/** `.lab/<instance>/state.json`: what the supervisor tells other commands, and what the next start cleans up by. */

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

const nodeSchema = z.object({ name: z.string(), url: z.string() });

const stateSchema = z.object({
  version: z.literal(1),
  instance: z.string(),
  status: z.enum(["starting", "ready", "stopping", "stopped", "failed"]),
  supervisor: identity,
  startedAtEpochMs: z.number(),
  commit: z.string(),
  /** In the order in which they ended; running ones last. */
  steps: z.array(stepSchema),
  /** Null until the store nodes answer, and where only servers were asked for. */
  dashboardUrl: z.string().nullable(),
  nodes: z.array(nodeSchema),
  /** DATABASE_URL and the like: what a process needs to use the same servers. */
  env: z.record(z.string(), z.string()),
  /** Why a service is not there, and the fix, by service. */
  missing: z.record(z.string(), z.string()),
  processes: z.array(processSchema),
  error: z.string().nullable(),
});
export type LabState = z.infer<typeof stateSchema>;

/** The state on disk, whoever wrote it; null when there is none or it is not usable. */
export function readState(paths: InstancePaths): LabState | null {
  if (!existsSync(paths.stateFile)) return null;
  try {
    return stateSchema.parse(JSON.parse(readFileSync(paths.stateFile, "utf8")));
  } catch {
    return null; // Of another version, or damaged: nothing in it can be relied on.
  }
}

/** The state of a lab that is alive, in whatever status; null when none is. */
export function readLiveState(paths: InstancePaths): LabState | null {
  const state = readState(paths);
  if (!state || state.status === "stopped") return null;
  return isSameProcess(state.supervisor) ? state : null;
}

/** Replaces the file in one step, so that a reader never sees half of it. Only its owner may read it: URLs hold passwords. */
export function writeState(paths: InstancePaths, state: LabState): void {
  mkdirSync(path.dirname(paths.stateFile), { recursive: true });
  const next = `${paths.stateFile}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(next, paths.stateFile);
}
