import type { NamedFinding } from "@/lib/runs/evidence";

/**
 * The finding that a page opens on: the first violation, else the first stale write that fencing refused, which is what a
 * fenced run shows. Null for a run in which nothing happened.
 */
export function openingFinding<F extends Pick<NamedFinding, "isViolation" | "kind">>(findings: readonly F[]): F | null {
  const violation = findings.find(({ isViolation }) => isViolation);
  return violation ?? findings.find(({ kind }) => kind === "refusedStaleWrite") ?? null;
}
