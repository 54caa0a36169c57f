import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { prisma } from "../services/postgres";

/** The operations of a run that one node recorded. PostgreSQL keeps them, one row per run and node. */

const compress = promisify(gzip);
const decompress = promisify(gunzip);

export interface NodeHistory {
  readonly node: string;
  readonly operations: number;
  /** Operations that are missing, or that may be. */
  readonly dropped: number;
  readonly ndjson: string;
}

/**
 * Joins two collections of one node's history without losing an operation: the node may have restarted after the first,
 * or not have answered the second. Only a collection that has all operations can tell how many are missing.
 */
export function joinHistories(first: NodeHistory, second: NodeHistory): NodeHistory {
  const lines = linesById(first.ndjson);
  const sizes = [lines.size];
  for (const [opId, line] of linesById(second.ndjson)) lines.set(opId, lines.get(opId) ?? line);
  sizes.push(countLines(second.ndjson));
  const complete = [first, second].filter((_, index) => sizes[index] === lines.size);
  const dropped =
    complete.length > 0
      ? Math.min(...complete.map((history) => history.dropped))
      : Math.max(first.dropped, second.dropped);
  const ndjson = [...lines.values()].map((line) => `${line}\n`).join("");
  return { node: first.node, operations: lines.size, dropped, ndjson };
}

function linesById(ndjson: string): Map<string, string> {
  const lines = ndjson.split("\n").filter(Boolean);
  return new Map(lines.map((line) => [(JSON.parse(line) as { opId: string }).opId, line]));
}

export function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/** Stores what was collected now, joined with what was collected before. @returns the stored history */
export async function saveHistory(runId: string, history: NodeHistory): Promise<NodeHistory> {
  const runIdAndNode = { runId, node: history.node };
  const row = await rowOf(history);
  return prisma().$transaction(async ({ runHistory }) => {
    const created = await runHistory.createMany({ data: [{ ...runIdAndNode, ...row }], skipDuplicates: true });
    if (created.count === 1) return history;
    // Locks the row: another process may be storing the same history, and the second joins with the first.
    await runHistory.update({ where: { runId_node: runIdAndNode }, data: { operations: { increment: 0 } } });
    const stored = await runHistory.findUniqueOrThrow({ where: { runId_node: runIdAndNode } });
    const joined = joinHistories(await historyOf(stored), history);
    await runHistory.update({ where: { runId_node: runIdAndNode }, data: await rowOf(joined) });
    return joined;
  }, TRANSACTION);
}

export async function readHistories(runId: string): Promise<NodeHistory[]> {
  const rows = await prisma().runHistory.findMany({ where: { runId }, orderBy: { node: "asc" } });
  return Promise.all(rows.map(historyOf));
}

/** Compressing and sending 200,000 operations on a loaded machine. */
const TRANSACTION = { maxWait: 30_000, timeout: 30_000 };

type HistoryRow = Omit<NodeHistory, "ndjson"> & { readonly ndjsonGzip: Uint8Array<ArrayBuffer> };

async function rowOf({ operations, dropped, ndjson }: NodeHistory): Promise<Omit<HistoryRow, "node">> {
  return { operations, dropped, ndjsonGzip: new Uint8Array(await compress(ndjson)) };
}

async function historyOf({ node, operations, dropped, ndjsonGzip }: HistoryRow): Promise<NodeHistory> {
  return { node, operations, dropped, ndjson: (await decompress(ndjsonGzip)).toString("utf8") };
}
