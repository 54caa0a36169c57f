import { FAULT_IDS, type FaultId } from "./ids";
import type { FaultRequest } from "./request";

/** A fault request as one word, for the command line and for the address of a page. */
export const FAULT_SYNTAX = "id[@atMs][+durationMs][:node][/server]";

const PATTERN = /^([a-z0-9_-]+)(?:@(\d{1,6}))?(?:\+(\d{1,6}))?(?::([a-z0-9-]{1,40}))?(?:\/([a-z]{1,20}))?$/;

/** @returns null if the text does not have the syntax; `faultRequestSchema` checks the bounds */
export function parseFault(text: string): FaultRequest | null {
  const [, name, atMs, durationMs, node, server] = PATTERN.exec(text) ?? [];
  const id = FAULT_IDS.find((known: FaultId) => known === name);
  if (id === undefined) return null;
  return {
    id,
    ...(atMs === undefined ? {} : { atMs: Number(atMs) }),
    ...(durationMs === undefined ? {} : { durationMs: Number(durationMs) }),
    ...(node === undefined ? {} : { node }),
    ...(server === undefined ? {} : { server }),
  };
}

export function formatFault({ id, atMs, durationMs, node, server }: FaultRequest): string {
  const at = atMs === undefined ? "" : `@${atMs}`;
  const length = durationMs === undefined ? "" : `+${durationMs}`;
  const on = `${node === undefined ? "" : `:${node}`}${server === undefined ? "" : `/${server}`}`;
  return `${id}${at}${length}${on}`;
}
