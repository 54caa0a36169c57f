import { randomUUID } from "node:crypto";

const SHAPE = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** @returns the client's own ID if it is safe to log and to send back, else a new one */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === "string" && SHAPE.test(header) ? header : randomUUID();
}
