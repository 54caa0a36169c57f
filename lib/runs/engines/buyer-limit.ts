import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { LabError } from "../lab-error";
import type { EngineId } from "./types";

/** How many buyers a load generator of this machine can start together. */
export interface BuyerLimit {
  readonly maxBuyers: number;
  /** What sets the limit, for people. */
  readonly limitedBy: string;
}

export interface Machine {
  /** Memory of the machine or, if it is less, of the container. */
  readonly memoryMb: number;
  /** Files and sockets that a process may have open; null if unknown. */
  readonly openFiles: number | null;
}

/** The most that the API accepts. */
export const MAX_BUYERS = 20_000;
/** 0.18 MB were measured for a buyer of k6 2.2 with a small script. */
const MB_PER_K6_BUYER = 0.5;
/** The servers and the store nodes need the rest. */
const SHARE_OF_MEMORY = 0.5;
/** Connections of the built-in generator to all nodes together. More buyers than that queue, and queueing counts as latency. */
export const BUILTIN_CONNECTIONS = 4_000;
/** Files that a process needs besides the connections of buyers. */
const OTHER_FILES = 500;
/** k6 and the lab open a connection per buyer. The built-in generator keeps a waiting buyer in about 10 KB. */
const CONNECTIONS_PER_BUYER: Record<EngineId, number> = { k6: 1, builtin: BUILTIN_CONNECTIONS / MAX_BUYERS };
const MB_PER_BUYER: Record<EngineId, number> = { k6: MB_PER_K6_BUYER, builtin: 0.05 };

/** Each process of the lab and of its generators runs on this machine. */
export function buyerLimit(engine: EngineId, machine: Machine = thisMachine()): BuyerLimit {
  const { memoryMb, openFiles } = machine;
  const byMemory = Math.floor((memoryMb * SHARE_OF_MEMORY) / MB_PER_BUYER[engine]);
  const byFiles = openFiles === null ? Infinity : Math.floor((openFiles - OTHER_FILES) / CONNECTIONS_PER_BUYER[engine]);
  const maxBuyers = Math.max(1, Math.min(MAX_BUYERS, byMemory, byFiles));
  if (maxBuyers === MAX_BUYERS) return { maxBuyers, limitedBy: "the lab's own limit" };
  if (byFiles <= byMemory) return { maxBuyers, limitedBy: `${openFiles} open files per process (ulimit -n)` };
  return { maxBuyers, limitedBy: `${Math.round(memoryMb)} MB of memory` };
}

/** Only for load that this machine generates. @throws LabError `too_many_buyers` */
export function rejectTooManyBuyers({ vus, rate }: Load, engine: EngineId, machine?: Machine): void {
  const { maxBuyers, limitedBy } = buyerLimit(engine, machine);
  if (rate !== undefined || vus <= maxBuyers) return;
  const message = `vus: ${vus} buyers are too many for ${engine} on this machine: the limit is ${maxBuyers}, because of ${limitedBy}.`;
  throw new LabError("too_many_buyers", message, { field: "vus", max: maxBuyers });
}

interface Load {
  readonly vus: number;
  /** Present for an arrival-rate run, whose buyers do not start together. */
  readonly rate?: number | undefined;
}

function thisMachine(): Machine {
  // 0 or a huge number means that no limit is set for the process.
  const constrainedMb = process.constrainedMemory() / 2 ** 20;
  const memoryMb = Math.min(totalmem() / 2 ** 20, constrainedMb > 0 ? constrainedMb : Infinity);
  return { memoryMb, openFiles: openFilesOf() };
}

/** Programs raise their soft limit to the hard limit. */
function openFilesOf(): number | null {
  try {
    const [, hard] = /^Max open files\s+\S+\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return hard === undefined ? null : Number(hard);
  } catch {
    return null; // Not Linux.
  }
}
