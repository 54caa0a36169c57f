import { FAULT_IDS, type FaultId } from "./ids";
import type { FaultRequest } from "./request";

/** How a fault is written in one word, on the command line and in the address of a page. */
export const FAULT_NOTATION = "id[@atMs][+durationMs][:node]";

const NOTATION = /^([a-z0-9-]+)(?:@(\d{1,6}))?(?:\+(\d{1,6}))?(?::([a-z0-9-]{1,40}))?$/;

/** @returns null for what is none; its bounds are the schema's business */
export function readFault(text: string): FaultRequest | null {
  const [, name, atMs, durationMs, node] = NOTATION.exec(text) ?? [];
  const id = FAULT_IDS.find((known: FaultId) => known === name);
  if (id === undefined) return null;
  return {
    id,
    ...(atMs === undefined ? {} : { atMs: Number(atMs) }),
    ...(durationMs === undefined ? {} : { durationMs: Number(durationMs) }),
    ...(node === undefined ? {} : { node }),
  };
}

export function writeFault({ id, atMs, durationMs, node }: FaultRequest): string {
  const at = atMs === undefined ? "" : `@${atMs}`;
  const length = durationMs === undefined ? "" : `+${durationMs}`;
  return `${id}${at}${length}${node === undefined ? "" : `:${node}`}`;
}
