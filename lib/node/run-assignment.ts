import { z } from "zod";

/** Phases of a run whose status is `running`, as PostgreSQL stores them (`runs.phase`). */
export type RunPhase = "preparing" | "open" | "closing";

const portSchema = z.int().min(1).max(65_535);
/** Ports of proxies on this host, by server id, in the order of the server's endpoints. */
const proxyPortsSchema = z.record(z.string(), z.array(portSchema));
/** Addresses of servers that only the run uses, by server id, in place of the configured ones. */
const serverAddressesSchema = z.record(z.string(), z.string().min(1).max(500));
export type ServerAddresses = Readonly<z.infer<typeof serverAddressesSchema>>;
export type ProxyPorts = Readonly<z.infer<typeof proxyPortsSchema>>;

/** A run's settings for one node; body of `PUT /api/node/runs/{id}`. */
export const assignmentSchema = z.strictObject({
  runId: z.string().min(1).max(64),
  strategy: z.string().min(1).max(64),
  target: z.strictObject({ kind: z.enum(["product", "coupon"]), id: z.int().min(1) }),
  holdMs: z.int().min(0),
  ttlMs: z.int().min(1),
  waitTimeoutMs: z.int().min(0),
  /** Purchases of the target that carry this key are the run's load: they are not rate-limited per buyer. */
  runKey: z.string().min(16).max(64).optional(),
  /** False: writes do not check fencing tokens. Default: true. */
  fencing: z.boolean().optional(),
  /** Proxies between the nodes and their servers, by node. A node in it serves the run through separate clients. */
  proxyPorts: z.record(z.string(), proxyPortsSchema).optional(),
  /** Servers of a topology that the run started. Every node serves the run through separate clients. */
  serverAddresses: serverAddressesSchema.optional(),
});
export type RunAssignment = z.infer<typeof assignmentSchema>;

/** How one node reaches the servers of one run. Servers that neither names are reached directly. */
export interface RunRoutes {
  /** Of proxies to the server at its address below, else at its configured address. */
  readonly ports: ProxyPorts;
  readonly addresses: ServerAddresses;
}

/** @returns undefined if the node reaches every server of the run as always */
export function routesOf({ proxyPorts, serverAddresses }: RunAssignment, node: string): RunRoutes | undefined {
  const ports = proxyPorts?.[node];
  if (ports === undefined && serverAddresses === undefined) return undefined;
  return { ports: ports ?? {}, addresses: serverAddresses ?? {} };
}

/** Proxies for a run in progress; body of `PUT /api/node/runs/{id}/routes`. */
export const newRoutesSchema = assignmentSchema.pick({ proxyPorts: true }).required();
export type NewRoutes = z.infer<typeof newRoutesSchema>;

/** Before a run opens, one node prepares its stock for all nodes; body of `POST /api/node/runs/{id}/prepare`. */
export const preparationSchema = assignmentSchema
  .pick({ strategy: true, target: true })
  .extend({ stock: z.int().min(0) });
export type RunPreparation = z.infer<typeof preparationSchema>;
