import { serverKind } from "../../servers/all-servers";
import { env } from "./current-env";

/** The configured address of a server kind; undefined if its variable is not set. */
export function serverAddress(id: string): string | undefined {
  const value = (env() as Readonly<Record<string, unknown>>)[serverKind(id).variable];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/**
 * Why a server is not configured, and the fix; null if it is. The supervisor can pass a more specific reason in
 * `LAB_MISSING_<SERVER>`.
 */
export function missingService(id: string): string | null {
  if (serverAddress(id) !== undefined) return null;
  const { label, variable } = serverKind(id);
  return process.env[`LAB_MISSING_${id.toUpperCase()}`] ?? `${label} is not configured; set ${variable}.`;
}
