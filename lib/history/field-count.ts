import type { HistoryOpLine } from "./types";

/** Adds `fields`, so that a reader notices a lost field. An undefined field counts as absent, as in JSON. */
export function withFieldCount(line: HistoryOpLine): HistoryOpLine {
  const { fields: _, ...rest } = line;
  const present = Object.values(rest).filter((value) => value !== undefined).length;
  return { ...rest, fields: present + 1 };
}
