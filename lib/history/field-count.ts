import type { HistoryOpLine } from "./types";

/**
 * Sets `fields`, so that a reader notices a lost field. An undefined field counts as absent, as in JSON. Changes the line itself:
 * a store node does this for every purchase while it sells, and a copy costs it more than the rest.
 */
export function countFields<Line extends HistoryOpLine>(line: Line & { fields?: number }): Line {
  let fields = 1;
  for (const name in line) if (name !== "fields" && line[name as keyof Line] !== undefined) fields += 1;
  line.fields = fields;
  return line;
}
