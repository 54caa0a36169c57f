import { randomBytes } from "node:crypto";

/** Sortable by time and short enough for a URL: milliseconds in base 36, then 40 random bits. */
export function newRunId(): string {
  const time = Date.now().toString(36).padStart(9, "0");
  const random = BigInt(`0x${randomBytes(5).toString("hex")}`)
    .toString(36)
    .padStart(8, "0");
  return `${time}-${random}`;
}
