import type { z } from "zod";
import type { ErrorCode } from "./error-codes";

/** A route as the registry describes it: what the OpenAPI document, the front door and the tests are made from. */
export interface Route {
  readonly method: "get" | "post" | "put" | "delete" | "patch";
  /** With `{name}` for what varies. */
  readonly path: string;
  readonly summary: string;
  readonly tag: "sale" | "shop" | "lab" | "runs" | "nodes" | "operation";
  /**
   * `anyone`: reading, or a buyer's own business. `admin`: changes the lab, so it needs the admin token when one is set,
   * and refuses other sites.
   */
  readonly access: "anyone" | "admin";
  /** Who answers: the hot path, the node's control routes or the probes, all ahead of Next; or a route file of Next. */
  readonly served: "hot" | "control" | "probe" | "next";
  readonly params?: Readonly<Record<string, z.ZodType>>;
  readonly query?: z.ZodObject;
  readonly headers?: Readonly<Record<string, HeaderField>>;
  readonly body?: z.ZodType;
  readonly answers: Readonly<Record<number, RouteAnswer>>;
  /** Beside those that every route may answer. */
  readonly errors: readonly ErrorCode[];
  /** As long as it is: never a slow request. */
  readonly isStream?: boolean;
}

export interface HeaderField {
  readonly schema: z.ZodType;
  readonly description: string;
}

export interface RouteAnswer {
  readonly description: string;
  /** Of the JSON body; absent: another content type. */
  readonly schema?: z.ZodType;
  readonly contentType?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}
