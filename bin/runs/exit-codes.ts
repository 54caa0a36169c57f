import type { RunDocument } from "../../lib/runs/document";

/** 0 safe, 1 unsafe, 2 inconclusive or not run. */
export const EXIT = { safe: 0, unsafe: 1, inconclusive: 2 } as const;

/** The worst of several runs decides: unsafe before inconclusive before safe. */
export function exitCodeOf(documents: readonly Pick<RunDocument, "verdict" | "status">[]): number {
  if (documents.some(({ verdict }) => verdict === "unsafe")) return EXIT.unsafe;
  const allSafe = documents.every(({ verdict, status }) => verdict === "safe" && status === "finished");
  return allSafe && documents.length > 0 ? EXIT.safe : EXIT.inconclusive;
}
