import { z } from "zod";
import recordings from "./recorded-commands.json";

/**
 * What each strategy sends to the servers when two buyers on two store nodes purchase one unit each at the same time.
 * `npm run lab -- record-commands` records it from real purchases and writes `recorded-commands.json`.
 */

const buyerSchema = z.enum(["A", "B"]);
/** The place of an event in the order in which the recorder saw all events of both buyers. */
const position = z.int().min(0);

const commandSchema = z.strictObject({
  kind: z.literal("command"),
  buyer: buyerSchema,
  /** Id of the server kind. */
  server: z.string(),
  name: z.string(),
  text: z.string(),
  values: z.array(z.string()).optional(),
  /** SHA-1 of the Lua script that it calls. */
  script: z.string().optional(),
  /** Servers that got the same command; absent: one. */
  servers: z.int().optional(),
  /** How often the buyer sent it, alone or in turns with the next commands with this number; absent: once. */
  times: z.int().optional(),
  /** Null: the purchase ended without it. */
  reply: z.string().nullable(),
  at: position,
  answeredAt: position.nullable(),
});

const noticeSchema = z.strictObject({
  kind: z.literal("notice"),
  buyer: buyerSchema,
  server: z.string(),
  text: z.string(),
  at: position,
});

const recordingSchema = z.strictObject({
  steps: z.array(z.discriminatedUnion("kind", [commandSchema, noticeSchema])),
  purchases: z.array(
    z.strictObject({
      buyer: buyerSchema,
      outcome: z.string(),
      /** The stock as the buyer read it, and as they wrote it; null if the strategy does not say. */
      read: z.number().nullable(),
      written: z.number().nullable(),
      /** The time in the critical section; null without a lock. */
      hold: z.strictObject({ from: position, to: position }).nullable(),
    }),
  ),
  /** In PostgreSQL, before and after both purchases. */
  stock: z.strictObject({ before: z.int(), after: z.int() }),
});

const fileSchema = z.strictObject({
  /** Source by SHA-1. */
  scripts: z.record(z.string(), z.string()),
  strategies: z.record(z.string(), recordingSchema),
});

export type Buyer = z.infer<typeof buyerSchema>;
export type RecordedCommand = z.infer<typeof commandSchema>;
export type RecordedStep = RecordedCommand | z.infer<typeof noticeSchema>;
export type Recording = z.infer<typeof recordingSchema>;
export type RecordedCommands = z.infer<typeof fileSchema>;

export const recordedCommands: RecordedCommands = fileSchema.parse(recordings);
