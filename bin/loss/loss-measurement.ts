import { z } from "zod";

/** One measured loss of a hold. The measuring program in tests/ writes these as JSON. */
export const lossMeasurementSchema = z.object({
  /** How the hold was ended. */
  how: z.string(),
  /** What ends with the hold. */
  against: z.enum(["lease", "session", "connection"]),
  /** Length of the lease or session; for a connection, the requested lease. */
  againstMs: z.number(),
  /** By design, the signal comes within this share of `againstMs`, not counting delays. */
  share: z.number(),
  /** From the command that ended the hold to the abort of `grant.signal`. */
  toSignalMs: z.number(),
  /** Whether the signal came before the next holder entered. Null if the measurement did not check it. */
  wasSignalledFirst: z.boolean().nullable(),
});
export type LossMeasurement = z.infer<typeof lossMeasurementSchema>;

export const lossSeriesSchema = z.object({
  strategyId: z.string(),
  losses: z.array(lossMeasurementSchema),
});
export type LossSeries = z.infer<typeof lossSeriesSchema>;

/** The argument of the measuring program. */
export interface LossOrder {
  readonly repeats: number;
  readonly ttlMs: number;
  /** The program writes a JSON array of `LossSeries` here. */
  readonly resultFile: string;
}
