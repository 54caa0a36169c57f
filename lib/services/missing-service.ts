import { env } from "./current-env";

/** Servers a strategy can need, with the variable that names each and how people call it. */
export const SERVICES = {
  postgres: { label: "PostgreSQL", variable: "DATABASE_URL" },
  redis: { label: "Redis", variable: "REDIS_URL" },
  redlock: { label: "Redlock", variable: "REDLOCK_URLS" },
  zookeeper: { label: "ZooKeeper", variable: "ZOOKEEPER_HOSTS" },
  memcached: { label: "Memcached", variable: "MEMCACHED_URL" },
  etcd: { label: "etcd", variable: "ETCD_URL" },
} as const;

export type ServiceName = keyof typeof SERVICES;

/**
 * Why a server is not there and the one line that would make it so; null when it is configured. Whoever started the
 * process may have left a better reason in `LAB_MISSING_<SERVICE>`.
 */
export function missingService(service: ServiceName): string | null {
  const { label, variable } = SERVICES[service];
  const value = env()[variable];
  if (value !== undefined && value.length > 0) return null;
  return process.env[`LAB_MISSING_${service.toUpperCase()}`] ?? `${label} is not configured; set ${variable}.`;
}
