import type { RunAssignment, RunPhase } from "../node/run-assignment";
import { prisma } from "../services/postgres";
import type { RunDocument } from "./document";
import type { StoredRun } from "./run-store";
import type { Database } from "./run-target";

/**
 * The lab's one running run, in PostgreSQL. A process claims the run before it calls a node or touches stock; a partial unique
 * index lets one process win. A claim whose process died is overdue after a while, and any process may take it away.
 */

export interface Claim {
  readonly document: RunDocument;
  readonly assignment: RunAssignment;
  /** The process that opens the run: `openerName`. */
  readonly openedBy: string;
  readonly deadlineAtEpochMs: number;
}

export interface RunningRun extends StoredRun {
  readonly phase: RunPhase;
  readonly openedBy: string;
}

/** Name and instance of a process, so that a restarted process recognizes the run of the earlier instance. */
export function openerName(name: string, instance: string): string {
  return `${name}~${instance}`;
}

/** @returns false if another run is running, and then changes nothing */
export async function insertClaim(database: Database, claim: Claim): Promise<boolean> {
  const { document, assignment, openedBy, deadlineAtEpochMs } = claim;
  const { id, strategy, config } = document;
  const inserted = await database.$executeRaw`
    INSERT INTO runs (id, strategy, status, phase, opened_by, assignment, config, document, deadline_at)
    VALUES (${id}, ${strategy}, 'running', 'preparing', ${openedBy}, ${JSON.stringify(assignment)}::jsonb,
      ${JSON.stringify(config)}::jsonb, ${JSON.stringify(document)}::jsonb, ${new Date(deadlineAtEpochMs)})
    ON CONFLICT (status) WHERE status = 'running' DO NOTHING`;
  return inserted === 1;
}

/** Makes a prepared run visible. @returns false if another process has taken its claim away */
export async function openClaim(document: RunDocument, deadlineAtEpochMs: number): Promise<boolean> {
  const { count } = await prisma().run.updateMany({
    where: { id: document.id, status: "running", phase: "preparing" },
    data: { phase: "open", document, deadlineAt: new Date(deadlineAtEpochMs) },
  });
  return count === 1;
}

/** Deletes a run that was never opened to buyers. */
export async function deleteClaim(id: string): Promise<void> {
  await prisma().run.deleteMany({ where: { id, status: "running" } });
}

/** A node that restarts now must not open the run again. */
export async function markClosing(id: string): Promise<void> {
  await prisma().run.updateMany({ where: { id, status: "running" }, data: { phase: "closing" } });
}

export async function readRunning(): Promise<RunningRun | null> {
  const row = await prisma().run.findFirst({
    where: { status: "running" },
    select: { document: true, deadlineAt: true, phase: true, openedBy: true },
  });
  if (!row) return null;
  return {
    document: row.document as unknown as RunDocument,
    deadlineAtEpochMs: row.deadlineAt.getTime(),
    phase: row.phase as RunPhase,
    openedBy: row.openedBy,
  };
}
