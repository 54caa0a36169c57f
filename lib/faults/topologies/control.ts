import { z } from "zod";
import { TOPOLOGY_IDS } from "./ids";

/**
 * Messages between the lab's supervisor, which owns the processes of a topology, and a process that uses one. One JSON object
 * per line, over a Unix socket. Each request gets one reply, in order. A topology ends with the connection that started it.
 */

/** The PostgreSQL of the process that asks, for a topology that uses it. */
const databaseUrl = z.url().max(1_000);
const durationMs = z.int().min(1).max(60_000);
const name = z.string().min(1).max(64);

export const controlRequestSchema = z.discriminatedUnion("do", [
  z.strictObject({ do: z.literal("start"), topology: z.enum(TOPOLOGY_IDS), databaseUrl }),
  /** Starts one that lasts until `drop` or until the lab stops. If such a topology is running, returns its addresses. */
  z.strictObject({ do: z.literal("keep"), topology: z.enum(TOPOLOGY_IDS), databaseUrl }),
  z.strictObject({ do: z.literal("drop"), topology: z.enum(TOPOLOGY_IDS) }),
  /** The rest acts on the topology of this connection. SIGKILL: */
  z.strictObject({ do: z.literal("kill"), process: name }),
  /** Starts a killed process again, with the data that is on its disk. */
  z.strictObject({ do: z.literal("revive"), process: name }),
  /** SIGSTOP. The process continues after this time, also if the supervisor has died. */
  z.strictObject({ do: z.literal("pause"), process: name, durationMs }),
  /** Lets a paused process continue now. */
  z.strictObject({ do: z.literal("resume"), process: name }),
  z.strictObject({ do: z.literal("cut"), link: name }),
  /** Keeps the connections of a link open and discards their data, for this time at most. */
  z.strictObject({ do: z.literal("silence"), link: name, durationMs }),
  z.strictObject({ do: z.literal("restore"), link: name }),
  /** Closes the connections of a link, and leads new ones to another planned port. */
  z.strictObject({ do: z.literal("redirect"), link: name, to: name }),
]);
export type ControlRequest = z.infer<typeof controlRequestSchema>;

const addressesSchema = z.strictObject({
  /** The values of server variables with which a strategy uses the topology, by server id. */
  servers: z.record(z.string(), z.string()),
  /** The address of each process, by its name. */
  processes: z.record(z.string(), z.string()),
});
export type TopologyAddresses = Readonly<z.infer<typeof addressesSchema>>;

export const controlReplySchema = z.union([
  z.strictObject({ addresses: addressesSchema }),
  z.strictObject({ done: z.boolean() }),
  z.strictObject({ error: z.string() }),
]);
export type ControlReply = z.infer<typeof controlReplySchema>;
